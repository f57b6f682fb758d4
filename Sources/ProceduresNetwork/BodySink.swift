public import Foundation
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Receives the body of a response piece by piece, for a `NetworkStreamProcedure`.
///
/// ```swift
/// nonisolated final class ByteSum: BodySink {
///   private var sum: UInt8 = 0
///
///   func begin(_ response: HTTPURLResponse) { sum = 0 }
///   func receive(_ piece: Data) { sum = piece.reduce(sum, &+) }
///   func end() -> UInt8 { sum }
///   func discard(after error: any Error) {}
/// }
/// ```
///
/// Each transfer has one of its own, which one thread at a time uses. It may take its time, wait, and use the network:
/// up to 1 MB of what comes meanwhile waits, and then its connection does, and no other. If more than 64 sinks wait at
/// the same time, further ones may wait for them; transfers without a sink of yours do not. After a cancel the call that
/// runs is the last but for `discard(after:)`. What it throws ends the transfer, and is the error.
public protocol BodySink<Payload>: AnyObject, SendableMetatype {
  /// The type of what comes of the body.
  associatedtype Payload: Sendable

  /// Called before the first piece, if the response is one that is wanted; once more if another response takes its
  /// place.
  func begin(_ response: HTTPURLResponse) throws

  /// The next piece has come.
  func receive(_ piece: Data) throws

  /// All has come, and the procedure is about to finish with the payload: from now on a cancel of it is late.
  func end() throws -> Payload

  /// It failed, or was cancelled: what has come is not wanted. Instead of `end()`, or after that has thrown.
  func discard(after error: any Error)
}

/// Keeps the body in memory.
final class MemorySink: BodySink {
  private var data = Data()

  func begin(_ response: HTTPURLResponse) {
    // What a server says of a length is not believed far: it has not sent it yet.
    let length = response.decodedLength
    if length > 0 { data.reserveCapacity(Int(min(length, 1 << 24))) }
  }

  func receive(_ piece: Data) { data.append(piece) }

  func end() -> Data { data }

  func discard(after error: any Error) { data = Data() }
}
