#if canImport(FoundationNetworking)
  internal import Foundation

  /// A body stream that was opened before its task.
  ///
  /// Foundation opens each body stream, which a user's subclass may not expect a second time. And
  /// it takes a failed stream without bytes for one at its end.
  final class OpenedStream: InputStream {
    private let stream: InputStream

    init(_ stream: InputStream) {
      self.stream = stream
      super.init(data: Data())
    }

    override func open() {}
    override func close() { stream.close() }
    override var streamStatus: Status { stream.streamStatus }
    override var streamError: (any Error)? { streamStatus == .error ? stream.streamError : nil }

    override var hasBytesAvailable: Bool {
      streamStatus == .error || stream.hasBytesAvailable
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
      unsafe stream.read(buffer, maxLength: length)
    }
  }
#endif
