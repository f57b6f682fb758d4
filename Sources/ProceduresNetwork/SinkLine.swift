internal import Dispatch
internal import ProcedurePrimitives

/// Calls one sink, one call at a time and in order, on a thread that no connection waits for.
///
/// A sink may take any time, and may use the network itself. Pieces that arrive meanwhile wait
/// here, up to `limit` bytes; then the connection is held back until half of that has been
/// consumed.
///
/// User sinks have threads of their own: many waiting sinks would take the threads that begin, end
/// and cancel other transfers. If more than `threadCount` sinks wait, further sinks may wait for
/// them.
///
/// 1. `isRunning`: one thread is running calls, until none is left.
/// 2. `isHolding`: `add` has returned true, and `release` was not called since.
final class SinkLine: Sendable {
  /// The number of waiting bytes at which the connection is held back.
  static let limit = 1 << 20
  static let threadCount = 64

  /// The threads of sinks that may wait.
  static let threads = WorkLine(threads: threadCount, quality: .default)

  private typealias Call = (size: Int, run: @Sendable () -> Void)

  private struct State: Sendable {
    var calls = Fifo<Call>()
    /// The bytes of the waiting calls and of the running call.
    var size = 0
    var isRunning = false
    var isHolding = false
  }

  private let state = Locked(State())
  private let line: WorkLine
  private let release: @Sendable () -> Void

  /// - Parameters:
  ///   - line: the threads that run the calls.
  ///   - release: resumes the connection; called on the thread of the calls.
  init(on line: WorkLine, release: @escaping @Sendable () -> Void) {
    self.line = line
    self.release = release
  }

  /// Runs `call` after earlier calls; returns at once.
  ///
  /// - Parameter size: the bytes that wait with the call.
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
