public import Foundation
public import Procedures
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Writes the response to a request to a file while it arrives.
///
/// ```swift
/// let download = NetworkDownloadProcedure(url: url, to: file)
/// queue.add(download)
/// for await fraction in download.progressUpdates { bar.value = fraction }
/// ```
///
/// Memory holds one piece at a time. The body is written beside `destination`, and replaces it in
/// one step when it is complete. If the transfer fails or is cancelled, the partial file is
/// removed, and `destination` does not change. A cancel that comes during the replacement is too
/// late, and has no effect. An accepted response that has no body by HTTP, with status 204 or 304 or
/// to a HEAD, leaves `destination` as it is, even if there is no file; an empty body is an empty
/// file. The directory must exist. A file that is replaced passes on its permissions, but not its
/// owner; of a symbolic link, the link is replaced. If `destination` is a folder, a device, a named
/// pipe or a socket, the download fails before anything is sent. Without a destination the file is
/// a new one in the temporary directory, yours to move or to remove. See `NetworkTaskProcedure` for
/// errors, cancelling, progress and the session.
///
/// ## Resuming a download
/// ```swift
/// let download = NetworkProcedure(resilience: resilience) {
///   NetworkDownloadProcedure(url: url, to: archive, resuming: true)
/// }
/// ```
/// If `resuming` is true, the received part stays beside the destination, as `archive.part`, when
/// the transfer fails or is cancelled. The next download to the same destination, in this process
/// or another, requests the rest. It begins anew if the resource has changed since, by its `ETag`
/// or `Last-Modified`, if the server cannot send parts, or if the part belongs to another request:
/// each difference in URL, query or header counts. A request that has a `Range` of its own is not
/// resumed. Only one resuming download at a time may use a destination: a second one fails with
/// `CocoaError.fileLocking`. It also fails if a symbolic link is in the place of the part, or if
/// somebody has removed the part when the transfer ends. Parts that you no longer want are yours to
/// remove.
nonisolated open class NetworkDownloadProcedure: NetworkTaskProcedure<URL>, InputProcedure,
  @unchecked Sendable
{
  /// The type of the input.
  public typealias Input = URLRequest

  /// The place of the file; nil for a new temporary one.
  public final let destination: URL?

  /// Whether it resumes an earlier download to the same destination, and leaves its own part if it
  /// ends early.
  public final let resumes: Bool

  /// Makes a procedure that sends `request`, or its `input`.
  ///
  /// - Parameters:
  ///   - name: its name; by default method, host and path of the request.
  ///   - session: the session of the transfer.
  ///   - request: the request; nil if you set or inject it later.
  ///   - destination: a file, which is replaced; nil for a new temporary one.
  ///   - resuming: whether it resumes an earlier download. Ignored without a destination.
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
    do {
      if let destination { try FileSink.checkMayReplace(destination) }
      guard resumes, let destination, input.httpMethod ?? "GET" == "GET",
        input.value(forHTTPHeaderField: "Range") == nil
      else { return load(input, into: FileSink(of: input, for: destination)) }
      let file = try ResumableFile(
        of: input, adding: session.configuration.httpAdditionalHeaders ?? [:], for: destination)
      load(file.request, into: file)
    } catch {
      finish(withError: error)
    }
  }
}
