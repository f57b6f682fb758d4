public import Foundation
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A response with its payload: the body in memory, or the file that it was written to.
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

/// A request with the payload that is sent.
public struct HTTPPayloadRequest<Payload: Sendable>: Sendable {
  /// The body.
  public var payload: Payload
  /// The address and the method: say `httpMethod = "POST"` or `"PUT"`.
  public var request: URLRequest

  /// Makes one.
  public init(payload: Payload, request: URLRequest) {
    self.payload = payload
    self.request = request
  }
}

/// The body of an upload.
public enum UploadBody: Sendable {
  /// These bytes.
  case data(Data)
  /// The contents of a file, read as it is sent.
  case file(URL)
}
