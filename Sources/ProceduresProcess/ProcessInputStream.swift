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
/// A program meets the end of its input after `end()`: without that it may wait forever, as at a terminal. A stream is
/// for one program; a second one fails with a `ProcessError`.
///
/// ## Thread safety
/// Everything may be called from any thread, before the program runs, while it runs, and after it. Bytes arrive in the
/// order of the calls. No call blocks.
///
/// ## Memory
/// Bytes that the program has not taken yet are kept in memory. Where there may be many, `waitUntilWritten()` between
/// two writes bounds them.
public final class ProcessInputStream: Sendable {
  private struct Wait: Sendable {
    let identifier: UInt64
    /// How many bytes must be taken.
    let position: UInt64
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State: Sendable {
    var pieces = Fifo<Data>()
    /// The rest of the piece that is being taken.
    var piece: Data?
    /// What was written, and what the program has taken, since the beginning.
    var written: UInt64 = 0
    var taken: UInt64 = 0
    var isEnded = false
    /// The program takes nothing more.
    var isClosed = false
    var isClaimed = false
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
  /// - Returns: false if the program will not get them, since it has closed its input, has ended or will not run, or
  ///   the stream was ended.
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

  /// Ends the input: after the bytes that were written the program meets the end of the file. A second call changes
  /// nothing.
  public func end() {
    let wake = state.withLock { state in
      state.isEnded = true
      return state.wake.take()
    }
    wake?()
  }

  /// How many bytes were written that the program has not taken yet: they are in memory.
  public var unwrittenByteCount: Int {
    state.withLock { $0.isClosed ? 0 : Int(clamping: $0.written - $0.taken) }
  }

  /// Waits until the program has taken what was written before this call, or cannot.
  ///
  /// ```swift
  /// for chunk in chunks {
  ///   input.write(chunk)
  ///   guard await input.waitUntilWritten() else { break }
  /// }
  /// ```
  ///
  /// "Taken" means that the bytes are in the pipe, of which the program may not have read them. The wait begins before
  /// the program runs, if it does not run yet. A cancel of the waiting task ends only the wait.
  ///
  /// - Returns: false if the program will not take them, or the waiting task was cancelled.
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
          if state.isClosed { return false }
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

/// The side of the program.
extension ProcessInputStream {
  package enum Next {
    case bytes(Data)
    /// `wake` will be called.
    case nothingYet
    case end
  }

  /// True once: a stream has one program.
  package func claim() -> Bool {
    state.withLock { state in
      defer { state.isClaimed = true }
      return !state.isClaimed
    }
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

  /// The program has taken the first bytes of what is next.
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
  /// - Parameter isUnclaimed: closes it only if no program has it.
  package func close(ifUnclaimed isUnclaimed: Bool = false) {
    let (waits, wake) = state.withLock { state -> ([Wait], (@Sendable () -> Void)?) in
      if isUnclaimed, state.isClaimed { return ([], nil) }
      state.isClosed = true
      (state.pieces, state.piece) = (Fifo(), nil)
      return (state.takeWaits { _ in true }, state.wake.take())
    }
    // Released here, and not under the lock.
    _ = wake
    for wait in waits { wait.continuation.resume(returning: false) }
  }
}
