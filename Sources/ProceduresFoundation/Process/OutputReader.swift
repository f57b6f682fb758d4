#if os(macOS) || os(Linux)
  internal import Dispatch
  internal import Foundation
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Reads the end of a pipe as it fills, until its other end is closed everywhere.
  ///
  /// Everything here runs on the queue of the process it belongs to.
  final class OutputReader: @unchecked Sendable {
    private let descriptor: Int32
    private let queue: DispatchQueue
    private let handler: (@Sendable (Data) -> Void)?
    private let ended: @Sendable () -> Void
    private var wait: DescriptorMonitor.Identifier?
    private var captured = Data()
    /// The last of what a handler got, a few pieces at most.
    private var handedOver = Data()
    private(set) var isAtEnd = false

    /// Keeps what it reads, unless there is a handler to hand it to; calls `ended` at the end.
    init(
      _ descriptor: Int32, on queue: DispatchQueue, handler: (@Sendable (Data) -> Void)?,
      ended: @escaping @Sendable () -> Void
    ) {
      self.descriptor = descriptor
      self.queue = queue
      self.handler = handler
      self.ended = ended
      FileDescriptorPair.makeNonBlocking(descriptor)
    }

    /// Reads one piece when there is one, so that a flood of output does not hold up a cancel.
    func start() {
      wait = DescriptorMonitor.shared.wait(for: descriptor, .reading, on: queue) {
        self.wait = nil
        self.readPiece()
        if self.isAtEnd { self.ended() } else { self.start() }
      }
    }

    /// Takes what the pipe holds now, at most as much as a pipe can hold, and stops reading.
    func stop() -> Data {
      var pieces = 0
      while pieces < 17, readPiece() { pieces += 1 }
      end()
      return captured
    }

    /// False when there is nothing to read now.
    @discardableResult
    private func readPiece() -> Bool {
      guard !isAtEnd else { return false }
      let capacity = 65536
      var count = 0
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
        repeat {
          count = unsafe read(descriptor, buffer.baseAddress, capacity)
        } while count < 0 && errno == EINTR
        initialized = max(0, count)
      }
      if count > 0 {
        if let handler {
          handedOver = handedOver.suffix(OutputEnd.length) + bytes.suffix(OutputEnd.length)
          handler(Data(bytes))
        } else {
          captured.append(contentsOf: bytes)
        }
        return true
      }
      if count == 0 || errno != EAGAIN { end() }
      return false
    }

    /// The end of all it has read, captured or not.
    var outputEnd: OutputEnd { OutputEnd(of: handler == nil ? captured : handedOver) }

    private func end() {
      guard !isAtEnd else { return }
      isAtEnd = true
      if let wait { DescriptorMonitor.shared.forget(wait) }
      close(descriptor)
    }
  }
#endif
