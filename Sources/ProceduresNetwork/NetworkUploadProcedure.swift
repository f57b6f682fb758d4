public import Foundation
public import Procedures
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Sends a body, from memory or from a file, and loads the answer into memory.
///
/// ```swift
/// var request = URLRequest(url: url)
/// request.httpMethod = "PUT"
/// queue.add(NetworkUploadProcedure(request: request, body: .file(archive)))
/// ```
///
/// A file is read while it is sent, and a symbolic link leads to its file; a folder, a pipe or a
/// missing file fails at once, with a `URLError` that names it. A GET or a HEAD fails with
/// `NetworkError.Code.bodyNotAllowed`. The length that is sent is that of the body, whatever
/// `Content-Length` the request has. The progress counts the sent bytes. See `NetworkTaskProcedure`
/// for errors, cancelling and the session.
nonisolated open class NetworkUploadProcedure: NetworkTaskProcedure<Data>, InputProcedure,
  @unchecked Sendable
{
  /// The request, with its body.
  public typealias Input = HTTPPayloadRequest<UploadBody>

  /// Makes a procedure that sends its `input`.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - session: the session of the transfer.
  ///   - accepting: the statuses that count as success.
  public override init(
    name: String? = nil, session: URLSession = .shared,
    accepting: Set<Int> = successfulStatusCodes
  ) {
    super.init(name: name, session: session, accepting: accepting)
  }

  /// Makes a procedure that sends `body`.
  ///
  /// - Parameters:
  ///   - name: its name; by default method, host and path of the request.
  ///   - session: the session of the transfer.
  ///   - request: the address, method and header; not a GET.
  ///   - body: the body.
  ///   - accepting: the statuses that count as success.
  public init(
    name: String? = nil, session: URLSession = .shared, request: URLRequest, body: UploadBody,
    accepting: Set<Int> = successfulStatusCodes
  ) {
    super.init(name: name ?? request.summary, session: session, accepting: accepting)
    input = HTTPPayloadRequest(payload: body, request: request)
  }

  /// Sends the body.
  open override func execute() {
    guard let input else { return failForLackOfInput() }
    load(input.request, sending: input.payload, into: MemorySink())
  }

  /// Sends the output of `source`, with `request`.
  ///
  /// Like `injectResult(from:)`, it makes this procedure depend on `source`.
  ///
  /// ```swift
  /// let encode = EncodeJSONProcedure(order)
  /// let send = NetworkUploadProcedure().injectPayload(from: encode, into: request)
  /// queue.add(encode, send)
  /// ```
  @discardableResult
  public final func injectPayload(
    from source: some OutputProcedure<Data>, into request: URLRequest
  ) -> Self {
    injectResult(from: source) { data in
      HTTPPayloadRequest(payload: .data(data), request: request)
    }
  }

  /// Sends the file that `source` makes, with `request`.
  @discardableResult
  public final func injectPayload(
    from source: some OutputProcedure<URL>, into request: URLRequest
  ) -> Self {
    injectResult(from: source) { file in
      HTTPPayloadRequest(payload: .file(file), request: request)
    }
  }
}

/// Payloads from a network procedure as input.
extension InputProcedure {
  /// Makes the payload of `source` the input of this procedure, which then depends on it.
  ///
  /// Like `injectResult(from:)`, but without status and header.
  ///
  /// ```swift
  /// let decode = DecodeJSONProcedure([Release].self).injectPayload(fromNetwork: fetch)
  /// queue.add(fetch, decode)
  /// ```
  @discardableResult
  public func injectPayload(
    fromNetwork source: some OutputProcedure<HTTPPayloadResponse<Input>>
  ) -> Self {
    injectResult(from: source) { $0.payload }
  }
}
