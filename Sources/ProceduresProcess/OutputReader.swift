#if os(macOS) || os(Linux)
  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Reads a pipe as it fills, until all descriptors of its other end are closed.
  ///
  /// Everything here runs on the supervisor's thread, except for the handler: while that runs on
  /// another thread, nothing more is read.
  final class OutputReader: @unchecked Sendable {
    private let descriptor: Int32
    private let supervisor: ProcessSupervisor
    private let handler: OutputHandler?
    private let ended: @Sendable () -> Void
    private var wait: DescriptorWaits.Identifier?
    private var isHandling = false
    private var whenStopped: (@Sendable () -> Void)?
    private var captured: CapturedOutput
    /// The end of the output that the handler got, at most 2,000 bytes.
    private var handedOver = Data()
    private(set) var pieceCount = 0
    private(set) var isAtEnd = false
    private(set) var isStopped = false

    /// Keeps the last bytes that it reads, or passes all to the handler, if there is one. Calls
    /// `ended` at the end.
    init(
      _ descriptor: Int32, _ supervisor: ProcessSupervisor, handler: OutputHandler?,
      keeping mostCapturedBytes: Int, ended: @escaping @Sendable () -> Void
    ) {
      self.descriptor = descriptor
      self.supervisor = supervisor
      self.handler = handler
      self.ended = ended
      captured = CapturedOutput(atMost: mostCapturedBytes)
      FileDescriptorPair.makeNonBlocking(descriptor)
    }

    /// Reads one piece when the pipe has data; a single one, so that a flood of output does not
    /// delay a cancel.
    func start() {
      wait = supervisor.wait(for: descriptor, .reading) {
        self.wait = nil
        let bytes = self.readPiece()
        guard let handler = self.handler, !bytes.isEmpty else {
          if !bytes.isEmpty { self.captured.append(bytes) }
          return self.goOn()
        }
        self.isHandling = true
        HandlerThreads.output.run {
          handler.take(Data(bytes))
          self.supervisor.post { self.handlerReturned() }
        }
      }
    }

    /// Reads the present contents of the pipe, at most as much as a pipe can hold, and stops.
    ///
    /// - Parameter completion: called when all of it is handled.
    func stop(_ completion: @escaping @Sendable () -> Void) {
      whenStopped = completion
      if let wait { supervisor.forget(wait) }
      wait = nil
      if !isHandling { takeTheRest() }
    }

    private func handlerReturned() {
      isHandling = false
      if whenStopped == nil { goOn() } else { takeTheRest() }
    }

    private func goOn() {
      if isAtEnd { ended() } else { start() }
    }

    private func takeTheRest() {
      var pieces: [[UInt8]] = []
      while pieces.count < 17 {
        let bytes = readPiece()
        if bytes.isEmpty { break }
        pieces.append(bytes)
      }
      end()
      isStopped = true
      let completion = whenStopped
      whenStopped = nil
      guard let handler, !pieces.isEmpty || handler.mayHaveMore else {
        for bytes in pieces { captured.append(bytes) }
        completion?()
        return
      }
      HandlerThreads.output.run { [pieces, supervisor] in
        for bytes in pieces { handler.take(Data(bytes)) }
        handler.end()
        supervisor.post { completion?() }
      }
    }

    /// Empty when the pipe has no data now.
    private func readPiece() -> [UInt8] {
      guard !isAtEnd else { return [] }
      let capacity = 65536
      var count = 0
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
        repeat {
          count = unsafe read(descriptor, buffer.baseAddress, capacity)
        } while count < 0 && errno == EINTR
        initialized = max(0, count)
      }
      if count > 0 {
        pieceCount += 1
        if handler != nil {
          handedOver = handedOver.suffix(OutputEnd.length) + bytes.suffix(OutputEnd.length)
        }
      }
      if count == 0 || (count < 0 && errno != EAGAIN) { end() }
      return bytes
    }

    /// The kept bytes, and the number of bytes before them.
    func takeCaptured() -> (bytes: Data, dropped: Int) { captured.take() }

    /// The end of the output that it has read, captured or not.
    var outputEnd: OutputEnd { handler == nil ? captured.end : OutputEnd(of: handedOver) }

    private func end() {
      guard !isAtEnd else { return }
      isAtEnd = true
      close(descriptor)
    }
  }
#endif
