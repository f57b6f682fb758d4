internal import Dispatch
internal import Foundation
internal import ProcedurePrimitives
package import Testing

/// Each suite has this trait, by which its tests are right on a busy machine.
///
/// - **A limit of time that only a hang meets.** A test waits for an event, or in virtual time, and
///   never for a number of seconds. If it waits for ever, the process stops with its name: a task
///   can be cancelled, a blocked thread cannot.
/// - **Only some tests at once.** By itself the runner begins all of them, and each step of one
///   waits behind a step of two thousand others: what waits for a program, or for a transfer, then
///   takes a half more of the processor.
package struct HangLimit: SuiteTrait, TestTrait, TestScoping {
  @TaskLocal private static var isInside = false
  private static let places = Places(count: 16 * ProcessInfo.processInfo.activeProcessorCount)
  private static let minutes = Rounds.isStress || Rounds.isSanitized ? 240 : 30

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // A suite in a suite has the trait twice.
    if Self.isInside { return try await function() }
    await Self.places.enter()
    defer { Self.places.leave() }
    let name = test.displayName ?? test.name
    let alarm = DispatchWorkItem {
      fatalError("the test '\(name)' hangs: it has run for \(Self.minutes) minutes")
    }
    DispatchQueue.global().asyncAfter(
      deadline: .now() + .seconds(60 * Self.minutes), execute: alarm)
    defer { alarm.cancel() }
    try await Self.$isInside.withValue(true) { try await function() }
  }
}

extension Trait where Self == HangLimit {
  package static var hangLimit: Self { HangLimit() }
}

/// Lets in so many at a time, in the order in which they came.
private final class Places: Sendable {
  private struct State {
    var free: Int
    var line: [CheckedContinuation<Void, Never>] = []
    var first = 0
  }

  private let state: Locked<State>

  init(count: Int) { state = Locked(State(free: count)) }

  func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.line.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.first < state.line.count else {
        state.free += 1
        return nil
      }
      defer { state.first += 1 }
      return state.line[state.first]
    }
    next?.resume()
  }
}
