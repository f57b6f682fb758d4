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
/// Each transfer has its own sink, which one thread at a time uses. A sink may take its time, wait,
/// and use the network: meanwhile up to 1 MB of the body waits in memory, and then only its
/// connection is held back. If more than 64 sinks wait at the same time, further sinks may wait for
/// them; transfers without a sink of yours do not. After a cancel only `discard(after:)` follows
/// the running call. An error that a call throws ends the transfer, and is the procedure's error.
public protocol BodySink<Payload>: AnyObject, SendableMetatype {
  /// The type of the result that the sink makes of the body.
  associatedtype Payload: Sendable

  /// Called before the first piece of an accepted response; called again if another response
  /// replaces it.
  func begin(_ response: HTTPURLResponse) throws

  /// Called with the next piece.
  func receive(_ piece: Data) throws

  /// Called when the whole body has arrived, and the procedure is about to finish with the payload:
  /// a cancel is too late now.
  func end() throws -> Payload

  /// Called when the transfer failed or was cancelled, instead of `end()` or after `end()` has
  /// thrown: drop the received body.
  func discard(after error: any Error)
}

/// Keeps the body in memory.
final class MemorySink: BodySink {
  private var data = Data()

  func begin(_ response: HTTPURLResponse) {
    // A server's length is trusted only up to a bound, since the body has not arrived yet.
    let length = response.decodedLength
    if length > 0 { data.reserveCapacity(Int(min(length, 1 << 24))) }
  }

  func receive(_ piece: Data) { data.append(piece) }

  func end() -> Data { data }

  func discard(after error: any Error) { data = Data() }
}
