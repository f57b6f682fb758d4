public import Foundation
internal import ProcedurePrimitives
internal import Procedures
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Why a response is no success, or could not be used. If no response arrived, the error is a
/// `URLError`.
///
/// A struct with a code, so that a new kind of error does not break an exhaustive `switch` of
/// yours.
public struct NetworkError: Error, Sendable {
  /// The kinds of error.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// Its name.
    public let description: String

    /// The status does not count as success. See `statusCode` and `body`.
    public static let unacceptableStatus = Code(description: "unacceptableStatus")
    /// The server did not answer by HTTP.
    public static let notHTTP = Code(description: "notHTTP")
    /// A GET or a HEAD has no body: set `httpMethod` to `POST` or `PUT`.
    public static let bodyNotAllowed = Code(description: "bodyNotAllowed")
    /// The body is a stream that was already read, and would be missing if the request was sent
    /// again, after a redirect or in another attempt. Send it as `UploadBody.data` or `.file`.
    public static let bodyNotRepeatable = Code(description: "bodyNotRepeatable")
  }

  /// The number of bytes that are kept of the body of a response with an unacceptable status.
  public static let longestBody = 65_536

  /// The kind of error.
  public let code: Code
  /// The request that was answered: after redirects the last of them, with its method and URL.
  public let request: URLRequest
  /// The HTTP response, if one arrived.
  public let response: HTTPURLResponse?
  /// The beginning of the body, which often names the cause.
  public let body: Data
  /// The rest of the deadline of a `NetworkProcedure` that gave up because the server asks for a
  /// longer wait in `retryAfter`; nil otherwise.
  public internal(set) var deadlineLeft: Duration?

  /// Makes an error like that of a network procedure, for your tests and stubs.
  ///
  /// ```swift
  /// let busy = NetworkError(
  ///   .unacceptableStatus, request: request, status: 429, header: ["Retry-After": "30"])
  /// let fetch = NetworkProcedure { ResultProcedure<Data> { throw busy } }
  /// ```
  ///
  /// - Parameters:
  ///   - code: its kind.
  ///   - request: the request. Its URL is also the URL of the response.
  ///   - status: the status of the response.
  ///   - header: the header fields of the response by name.
  ///   - body: the beginning of the body.
  public init(
    _ code: Code, request: URLRequest, status: Int, header: [String: String] = [:],
    body: Data = Data()
  ) {
    self.init(
      code, request: request,
      response: request.url.flatMap { url in
        HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: header)
      }, body: body)
  }

  /// Makes an error with a response, or without one.
  public init(
    _ code: Code, request: URLRequest, response: HTTPURLResponse? = nil, body: Data = Data()
  ) {
    self.code = code
    self.request = request
    self.response = response
    self.body = body
  }

  /// The status, if a response arrived.
  public var statusCode: Int? { response?.statusCode }

  /// The wait before the next attempt that the server asks for: its `Retry-After`.
  ///
  /// A date counts from the server's own `Date`, so that clocks need not agree. nil without a
  /// readable value; never negative.
  public var retryAfter: Duration? {
    guard let text = response?.value(forHTTPHeaderField: "Retry-After") else { return nil }
    return RetryAfter.duration(text, date: response?.value(forHTTPHeaderField: "Date"))
  }
}

extension NetworkError: CustomStringConvertible {
  /// One sentence that says what happened.
  ///
  /// It contains method, host and path, but neither query nor header nor body, which may hold
  /// secrets.
  public var description: String {
    switch code {
    case .unacceptableStatus:
      "\(place) was answered with status \(statusCode ?? 0)\(reasonToGiveUp)"
    case .bodyNotAllowed:
      "\(place) cannot be sent with a body: set httpMethod of the request to POST or PUT"
    case .bodyNotRepeatable:
      "\(place) cannot be sent: its body is a stream that was read from before; use UploadBody.data or .file, or make "
        + "a new stream for each request"
    default: "\(place) was not answered by HTTP"
    }
  }

  private var reasonToGiveUp: String {
    guard let deadlineLeft, let retryAfter else { return "" }
    return
      "; it asks to wait \(retryAfter.short), but \(deadlineLeft.short) of the deadline are left"
  }

  private var place: String {
    let url = request.url
    let host = (url?.host() ?? "") + (url?.port.map { ":\($0)" } ?? "")
    return "\(request.httpMethod ?? "GET") \(host)\(url?.path() ?? "")"
  }
}

extension NetworkError: LocalizedError {
  /// The same sentence as `description`, for `localizedDescription`.
  public var errorDescription: String? { description }
}

extension NetworkError.Code {
  /// Matches errors with this code in a `catch` or a `case`.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? NetworkError)?.code == code
  }
}
