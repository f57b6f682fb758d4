internal import ProcedurePrimitives

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file with the whole output of a step, created when the step first writes.
final class StepLog: Sendable {
  private let path: String
  private let failed: @Sendable (_ sentence: String) -> Void
  private let state = Locked(State())

  private struct State {
    var descriptor: Int32?
    var hasFailed = false
    /// Whether the last line that was written has no end yet.
    var isInLine = false
    /// Whether an attempt of this run has opened it: the first one truncates it, later ones append.
    var wasOpened = false
  }

  /// - Parameter failed: called once, with the reason, when something could not be written.
  init(path: String, failed: @escaping @Sendable (_ sentence: String) -> Void) {
    self.path = path
    self.failed = failed
  }

  /// It holds the lock during the write, so that the pieces of a step keep their order.
  func append(_ data: Data) {
    let problem: String? = state.withLock { state in
      guard !state.hasFailed else { return nil }
      let problem = write(data, &state)
      state.hasFailed = problem != nil
      return problem
    }
    guard let problem else { return }
    failed("the log '\(path)' cannot be written: \(problem)")
  }

  /// Ends an unfinished line.
  func endLine() {
    if state.withLock({ $0.isInLine }) { append(Data("\n".utf8)) }
  }

  func close() {
    state.withLock { state in
      if let descriptor = state.descriptor { _ = systemClose(descriptor) }
      state.descriptor = nil
    }
  }

  private func write(_ data: Data, _ state: inout State) -> String? {
    let file = state.descriptor ?? open(&state)
    guard file >= 0 else { return unsafe String(cString: strerror(errno)) }
    state.descriptor = file
    do throws(PatientWriter.Failure) {
      try PatientWriter(file).write(data)
      if let last = data.last { state.isInLine = last != UInt8(ascii: "\n") }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func open(_ state: inout State) -> Int32 {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (state.wasOpened ? O_APPEND : O_TRUNC)
    state.wasOpened = true
    return systemOpen(path, flags, 0o666)
  }
}

// These have names of their own, since methods are called `close` and `open`.

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  unsafe open(path, flags, mode)
}
