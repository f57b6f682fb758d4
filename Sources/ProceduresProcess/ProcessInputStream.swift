#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import ProcedurePrimitives

/// The standard input of a program, written while it runs.
///
/// ```swift
/// let input = ProcessInputStream()
/// let calculator = ProcessProcedure("bc") {
///   $0.standardInput = .stream(input)
///   $0.standardOutput = .lines { print($0) }
/// }
/// queue.add(calculator)
/// input.write("2 + 3\n")
/// input.end()
/// ```
///
/// A program meets the end of its input after `end()`: without that it may wait forever, as at a
/// terminal. A stream is for one program; a second program fails with a `ProcessError`.
///
/// ## Thread safety
/// Everything may be called from any thread, before the program runs, while it runs, and after it.
/// Bytes arrive in the order of the calls. No call blocks.
///
/// ## Memory
/// Bytes that the program has not taken yet are kept in memory. If there may be many, call
/// `waitUntilWritten()` between two writes to bound them.
public final class ProcessInputStream: Sendable {
  private struct Wait: Sendable {
    let identifier: UInt64
    /// The number of bytes that must be taken, since the beginning.
    let position: UInt64
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State: Sendable {
    var pieces = Fifo<Data>()
    /// The rest of the piece that the program is taking.
    var piece: Data?
    /// The bytes that were written, and that the program has taken, since the beginning.
    var written: UInt64 = 0
    var taken: UInt64 = 0
    var isEnded = false
    /// The program takes nothing more.
    var isClosed = false
    var isClaimed = false
    /// The procedure that had the stream was released, and no program has claimed it.
    var isAbandoned = false
    /// Called by the next write, or the end.
    var wake: (@Sendable () -> Void)?
    var waits: [Wait] = []
    var lastIdentifier: UInt64 = 0
    /// Waits that were cancelled before they began.
    var cancelled: Set<UInt64> = []

    mutating func takeWaits(where isOver: (Wait) -> Bool) -> [Wait] {
      let over = waits.filter(isOver)
      waits.removeAll(where: isOver)
      return over
    }
  }

  private let state = Locked(State())

  /// Makes a stream without bytes.
  public init() {}

  /// Writes bytes. Returns at once.
  ///
  /// - Returns: false if the program will not get them, since it has closed its input, has ended or
  ///   will not run, or the stream was ended.
  @discardableResult
  public func write(_ data: Data) -> Bool {
    let (isAccepted, wake) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      guard !state.isEnded, !state.isClosed else { return (false, nil) }
      guard !data.isEmpty else { return (true, nil) }
      state.pieces.append(data)
      state.written += UInt64(data.count)
      return (true, state.wake.take())
    }
    wake?()
    return isAccepted
  }

  /// Writes the UTF-8 bytes of a text. See `write(_:)` of data.
  @discardableResult
  public func write(_ text: String) -> Bool { write(Data(text.utf8)) }

  /// Ends the input: after the written bytes the program meets the end of the file. A second call
  /// has no effect.
  public func end() {
    let wake = state.withLock { state in
      state.isEnded = true
      return state.wake.take()
    }
    wake?()
  }

  /// The number of written bytes that the program has not taken yet, and that are in memory.
  public var unwrittenByteCount: Int {
    state.withLock { $0.isClosed ? 0 : Int(clamping: $0.written - $0.taken) }
  }

  /// Waits until the program has taken all bytes written before this call, or never will.
  ///
  /// ```swift
  /// for chunk in chunks {
  ///   input.write(chunk)
  ///   guard await input.waitUntilWritten() else { break }
  /// }
  /// ```
  ///
  /// "Taken" means that the bytes are in the pipe; the program may not have read them yet. You may
  /// call it before the program runs. A cancel of the waiting task ends only the wait.
  ///
  /// - Returns: false if the program will not take them, or the waiting task was cancelled. A
  ///   program takes nothing more once it has ended or closed its input, and nothing at all if it
  ///   could not be started, or if its procedure was cancelled before or was released without
  ///   having run.
  public func waitUntilWritten() async -> Bool {
    let identifier = state.withLock { state in
      state.lastIdentifier += 1
      return state.lastIdentifier
    }
    let isWritten = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = state.withLock { state in
          if state.cancelled.remove(identifier) != nil { return false }
          if state.taken >= state.written { return true }
          if state.isClosed || state.isAbandoned { return false }
          state.waits.append(
            Wait(identifier: identifier, position: state.written, continuation: continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waits = state.withLock { state in
        let waits = state.takeWaits { $0.identifier == identifier }
        if waits.isEmpty { state.cancelled.insert(identifier) }
        return waits
      }
      for wait in waits { wait.continuation.resume(returning: false) }
    }
    _ = state.withLock { $0.cancelled.remove(identifier) }
    return isWritten
  }
}

/// The functions for the program's side.
extension ProcessInputStream {
  package enum Next {
    case bytes(Data)
    /// `wake` will be called.
    case nothingYet
    case end
  }

  /// True for the first caller only: a stream has one program.
  package func claim() -> Bool {
    state.withLock { state in
      defer { (state.isClaimed, state.isAbandoned) = (true, false) }
      return !state.isClaimed
    }
  }

  /// The procedure that had the stream was released: ends the waits if no program has claimed it.
  ///
  /// The bytes stay, since the stream may be given to another procedure.
  package func abandon() {
    let waits = state.withLock { state in
      guard !state.isClaimed else { return [Wait]() }
      state.isAbandoned = true
      return state.takeWaits { _ in true }
    }
    for wait in waits { wait.continuation.resume(returning: false) }
  }

  /// The bytes to take next.
  ///
  /// - Parameter wake: called once, by the thread that writes or ends, if there is nothing yet.
  package func next(orWake wake: @escaping @Sendable () -> Void) -> Next {
    state.withLock { state in
      state.piece = state.piece ?? state.pieces.popFirst()
      if let piece = state.piece { return .bytes(piece) }
      if state.isEnded || state.isClosed { return .end }
      state.wake = wake
      return .nothingYet
    }
  }

  /// Removes the first bytes of the next piece, which the program has taken.
  package func take(_ count: Int) {
    let waits = state.withLock { state in
      guard let piece = state.piece else { return [Wait]() }
      state.piece = count < piece.count ? piece.dropFirst(count) : nil
      state.taken += UInt64(count)
      return state.takeWaits { [taken = state.taken] wait in wait.position <= taken }
    }
    for wait in waits { wait.continuation.resume(returning: true) }
  }

  /// The program takes nothing more.
  ///
  /// - Parameter isUnclaimed: closes the stream only if no program has claimed it.
  package func close(ifUnclaimed isUnclaimed: Bool = false) {
    let (waits, wake) = state.withLock { state -> ([Wait], (@Sendable () -> Void)?) in
      if isUnclaimed, state.isClaimed { return ([], nil) }
      state.isClosed = true
      (state.pieces, state.piece) = (Fifo(), nil)
      return (state.takeWaits { _ in true }, state.wake.take())
    }
    // `wake` is released here, not under the lock.
    _ = wake
    for wait in waits { wait.continuation.resume(returning: false) }
  }
}
