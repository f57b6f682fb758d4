public import Foundation
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Where the body of a response goes, piece by piece: for a `NetworkStreamProcedure`.
///
/// ```swift
/// final class ByteSum: BodySink {
///   private var sum: UInt8 = 0
///
///   func begin(_ response: HTTPURLResponse) { sum = 0 }
///   func receive(_ piece: Data) { sum = piece.reduce(sum, &+) }
///   func end() -> UInt8 { sum }
///   func discard(after error: any Error) {}
/// }
/// ```
///
/// Each transfer has one of its own, which one thread at a time uses. Nothing more is read from the connection, on
/// Linux, while it takes a piece. What it throws ends the transfer, and is the error.
public protocol BodySink<Payload>: AnyObject, SendableMetatype {
  /// The type of what comes of the body.
  associatedtype Payload: Sendable

  /// Called before the first piece, if the response is one that is wanted; once more if another response takes its
  /// place.
  func begin(_ response: HTTPURLResponse) throws

  /// The next piece has come.
  func receive(_ piece: Data) throws

  /// All has come.
  func end() throws -> Payload

  /// It failed, or was cancelled: what has come is not wanted. Instead of `end()`, or after that has thrown.
  func discard(after error: any Error)
}

/// Keeps the body in memory.
final class MemorySink: BodySink {
  private var data = Data()

  func begin(_ response: HTTPURLResponse) {
    // What a server says of a length is not believed far: it has not sent it yet.
    let length = response.expectedContentLength
    if length > 0 { data.reserveCapacity(Int(min(length, 1 << 24))) }
  }

  func receive(_ piece: Data) { data.append(piece) }

  func end() -> Data { data }

  func discard(after error: any Error) { data = Data() }
}
