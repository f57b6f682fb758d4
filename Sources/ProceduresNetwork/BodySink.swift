internal import Foundation

/// Where the body of a response goes. Used by one thread at a time.
protocol BodySink<Payload>: AnyObject, SendableMetatype {
  associatedtype Payload: Sendable

  /// Called once, before the first piece, if the response is one that is wanted.
  func begin(expecting length: Int64) throws
  func receive(_ data: Data) throws
  /// All has come.
  func end() throws -> Payload
  /// It is not wanted: nothing of it stays.
  func discard()
}

/// Keeps the body in memory.
final class MemorySink: BodySink {
  private var data = Data()

  func begin(expecting length: Int64) {
    // What a server says of a length is not believed far: it has not sent it yet.
    if length > 0 { data.reserveCapacity(Int(min(length, 1 << 24))) }
  }

  func receive(_ piece: Data) { data.append(piece) }

  func end() -> Data { data }

  func discard() { data = Data() }
}
