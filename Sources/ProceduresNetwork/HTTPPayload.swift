public import Foundation
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A response, and what came with it: its body in memory, or the file that it was written to.
public struct HTTPPayloadResponse<Payload: Sendable>: Sendable {
  /// The body, or the file that has it.
  public var payload: Payload
  /// Status and header.
  public var response: HTTPURLResponse

  /// Makes one, for tests of what takes it as its input.
  public init(payload: Payload, response: HTTPURLResponse) {
    self.payload = payload
    self.response = response
  }

  /// For example 200.
  public var statusCode: Int { response.statusCode }
}

/// A request, and what is sent with it.
public struct HTTPPayloadRequest<Payload: Sendable>: Sendable {
  /// The body.
  public var payload: Payload
  /// Where it is sent, and how: say `httpMethod = "POST"` or `"PUT"`.
  public var request: URLRequest

  /// Makes one.
  public init(payload: Payload, request: URLRequest) {
    self.payload = payload
    self.request = request
  }
}

/// What an upload sends.
public enum UploadBody: Sendable {
  /// These bytes.
  case data(Data)
  /// What a file holds, read as it is sent.
  case file(URL)
}
