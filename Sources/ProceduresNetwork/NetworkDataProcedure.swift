public import Foundation
public import Procedures
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Loads the response to a request into memory.
///
/// ```swift
/// let fetch = NetworkDataProcedure(url: url)
/// queue.add(fetch)
/// print(try await fetch.value.payload.count, "bytes")
/// ```
///
/// You may set or inject the request as its `input`. See `NetworkTaskProcedure` for errors,
/// cancelling, progress and the session; `NetworkDownloadProcedure` for bodies too large for
/// memory.
nonisolated open class NetworkDataProcedure: NetworkTaskProcedure<Data>, InputProcedure,
  @unchecked Sendable
{
  /// The type of the input.
  public typealias Input = URLRequest

  /// Makes a procedure that sends `request`, or its `input`.
  ///
  /// - Parameters:
  ///   - name: its name; by default method, host and path of the request.
  ///   - session: the session of the transfer.
  ///   - request: the request; nil if you set or inject it later.
  ///   - accepting: the statuses that count as success.
  public init(
    name: String? = nil, session: URLSession = .shared, request: URLRequest? = nil,
    accepting: Set<Int> = successfulStatusCodes
  ) {
    super.init(name: name ?? request?.summary, session: session, accepting: accepting)
    if let request { input = request }
  }

  /// Makes a procedure that loads the contents of a URL.
  public init(
    name: String? = nil, session: URLSession = .shared, url: URL,
    accepting: Set<Int> = successfulStatusCodes
  ) {
    let request = URLRequest(url: url)
    super.init(name: name ?? request.summary, session: session, accepting: accepting)
    input = request
  }

  /// Sends the request.
  open override func execute() {
    guard let input else { return failForLackOfInput() }
    load(input, into: MemorySink())
  }
}
