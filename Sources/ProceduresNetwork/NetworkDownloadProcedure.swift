public import Foundation
public import Procedures
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Writes what a request is answered with to a file, as it comes.
///
/// ```swift
/// let download = NetworkDownloadProcedure(url: url, to: file)
/// queue.add(download)
/// for await fraction in download.progressUpdates { bar.value = fraction }
/// ```
///
/// Memory holds a piece of it at a time. It is written beside `destination`, which it replaces in one
/// step when all has come; if the transfer fails, or is cancelled, nothing of it stays, and what
/// was at `destination` is still there. The directory must exist. Without a destination the
/// file is a new one in the temporary directory, yours to move or to remove. See `NetworkTaskProcedure` for
/// errors, cancelling, progress and the session.
nonisolated open class NetworkDownloadProcedure: NetworkTaskProcedure<URL>, InputProcedure,
  @unchecked Sendable
{
  /// The type of the input.
  public typealias Input = URLRequest

  /// The place of the file; nil for a new temporary one.
  public final let destination: URL?

  /// Makes a procedure that sends `request`, or its `input`.
  ///
  /// - Parameters:
  ///   - name: its name; by default method, host and path of the request.
  ///   - session: whose transfer it is.
  ///   - request: the request; nil if it is set, or injected, later.
  ///   - destination: a file, which is replaced; nil for a new temporary one.
  ///   - accepting: the statuses that count as success.
  public init(
    name: String? = nil, session: URLSession = .shared, request: URLRequest? = nil,
    to destination: URL? = nil, accepting: Set<Int> = successfulStatusCodes
  ) {
    self.destination = destination
    super.init(name: name ?? request?.summary, session: session, accepting: accepting)
    if let request { input = request }
  }

  /// Makes a procedure that downloads the contents of a URL.
  public init(
    name: String? = nil, session: URLSession = .shared, url: URL, to destination: URL? = nil,
    accepting: Set<Int> = successfulStatusCodes
  ) {
    let request = URLRequest(url: url)
    self.destination = destination
    super.init(name: name ?? request.summary, session: session, accepting: accepting)
    input = request
  }

  /// Sends the request.
  open override func execute() {
    guard let input else { return failForLackOfInput() }
    load(input, into: FileSink(destination))
  }
}
