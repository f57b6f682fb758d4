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
/// was at `destination` is still there. A cancel that comes when it is about to be replaced is late, and
/// changes nothing. The directory must exist. Without a destination the file is a new one in the temporary
/// directory, yours to move or to remove. See `NetworkTaskProcedure` for errors, cancelling, progress and the
/// session.
///
/// ## Going on with what is there
/// ```swift
/// let download = NetworkProcedure(resilience: resilience) {
///   NetworkDownloadProcedure(url: url, to: archive, resuming: true)
/// }
/// ```
/// With `resuming`, what has come stays beside the destination, as `archive.part`, when the transfer fails or is
/// cancelled. The next download to the same destination, in this process or another, asks for the rest of it. It
/// begins anew if the resource has changed since, by its `ETag` or `Last-Modified`, if the server
/// cannot send parts, or if the part is of another request: each difference in URL, query or header counts. A
/// request that has a `Range` of its own is not resumed. One download at a time may have a destination: a
/// second one fails with `CocoaError.fileLocking`. A part that is not wanted any more is yours to remove.
nonisolated open class NetworkDownloadProcedure: NetworkTaskProcedure<URL>, InputProcedure,
  @unchecked Sendable
{
  /// The type of the input.
  public typealias Input = URLRequest

  /// The place of the file; nil for a new temporary one.
  public final let destination: URL?

  /// Whether it goes on with what an earlier download to the same destination left, and leaves that itself.
  public final let resumes: Bool

  /// Makes a procedure that sends `request`, or its `input`.
  ///
  /// - Parameters:
  ///   - name: its name; by default method, host and path of the request.
  ///   - session: whose transfer it is.
  ///   - request: the request; nil if it is set, or injected, later.
  ///   - destination: a file, which is replaced; nil for a new temporary one.
  ///   - resuming: whether it goes on with what is there. Without a destination it makes no difference.
  ///   - accepting: the statuses that count as success; with `resuming` also 206.
  public init(
    name: String? = nil, session: URLSession = .shared, request: URLRequest? = nil,
    to destination: URL? = nil, resuming: Bool = false,
    accepting: Set<Int> = successfulStatusCodes
  ) {
    self.destination = destination
    resumes = resuming
    super.init(
      name: name ?? request?.summary, session: session,
      accepting: resuming ? accepting.union([206]) : accepting)
    if let request { input = request }
  }

  /// Makes a procedure that downloads the contents of a URL.
  public init(
    name: String? = nil, session: URLSession = .shared, url: URL, to destination: URL? = nil,
    resuming: Bool = false, accepting: Set<Int> = successfulStatusCodes
  ) {
    let request = URLRequest(url: url)
    self.destination = destination
    resumes = resuming
    super.init(
      name: name ?? request.summary, session: session,
      accepting: resuming ? accepting.union([206]) : accepting)
    input = request
  }

  /// Sends the request.
  open override func execute() {
    guard let input else { return failForLackOfInput() }
    guard resumes, let destination, input.httpMethod ?? "GET" == "GET",
      input.value(forHTTPHeaderField: "Range") == nil
    else { return load(input, into: FileSink(destination)) }
    do {
      let file = try ResumableFile(
        of: input, adding: session.configuration.httpAdditionalHeaders ?? [:], for: destination)
      load(file.request, into: file)
    } catch {
      finish(withError: error)
    }
  }
}
