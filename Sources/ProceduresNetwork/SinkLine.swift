internal import Dispatch
internal import ProcedurePrimitives

/// Calls to one sink, one at a time and in order, on a thread that no connection waits for.
///
/// A sink may take as long as it likes, and may use the network itself. What comes meanwhile waits here, up to `limit`
/// bytes; then its connection is held back, until half of that has been taken.
///
/// Sinks of the user's have threads of their own: many that wait would take those that begin, end and cancel the other
/// transfers. If more than `threadCount` wait, further ones may wait for these.
///
/// 1. `isRunning`: one thread runs calls, until none is left.
/// 2. `isHolding`: `add` has returned true, and `release` was not called since.
final class SinkLine: Sendable {
  /// How many bytes wait before the connection is held back.
  static let limit = 1 << 20
  static let threadCount = 64

  /// The threads of sinks that may wait.
  static let threads = WorkLine(threads: threadCount, quality: .default)

  private typealias Call = (size: Int, run: @Sendable () -> Void)

  private struct State: Sendable {
    var calls = Fifo<Call>()
    /// Of the calls that wait, and of the one that runs.
    var size = 0
    var isRunning = false
    var isHolding = false
  }

  private let state = Locked(State())
  private let line: WorkLine
  private let release: @Sendable () -> Void

  /// - Parameters:
  ///   - line: whose threads run the calls.
  ///   - release: lets the connection go on; called where calls run.
  init(on line: WorkLine, release: @escaping @Sendable () -> Void) {
    self.line = line
    self.release = release
  }

  /// Runs `call` after those before it; returns at once.
  ///
  /// - Parameter size: how many bytes wait with it.
  /// - Returns: true if the connection must be held back now. Then `release` will be called.
  func add(size: Int = 0, _ call: @escaping @Sendable () -> Void) -> Bool {
    let (starts, isFull) = state.withLock { state in
      state.calls.append((size, call))
      state.size += size
      let isFull = size > 0 && state.size >= Self.limit
      if isFull { state.isHolding = true }
      defer { state.isRunning = true }
      return (!state.isRunning, isFull)
    }
    if starts { line.submit { self.run() } }
    return isFull
  }

  private func run() {
    while let call = next() {
      call.run()
      let releases = state.withLock { state in
        state.size -= call.size
        guard state.isHolding, state.size <= Self.limit / 2 else { return false }
        state.isHolding = false
        return true
      }
      if releases { release() }
    }
  }

  private func next() -> Call? {
    state.withLock { state in
      let call = state.calls.popFirst()
      if call == nil { state.isRunning = false }
      return call
    }
  }
}
