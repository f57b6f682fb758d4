public import Foundation
public import Procedures
#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Passes the response to a request to a sink of yours while it arrives. The sink's result is the
/// payload.
///
/// ```swift
/// let sum = NetworkStreamProcedure(url: url) { ByteSum() }
/// queue.add(sum)
/// print(try await sum.value.payload)
/// ```
///
/// See `BodySink`, and `NetworkTaskProcedure` for errors, cancelling, progress and the session.
nonisolated public final class NetworkStreamProcedure<Payload: Sendable>: NetworkTaskProcedure<
  Payload
>,
InputProcedure, @unchecked Sendable
{
  /// The type of the input.
  public typealias Input = URLRequest

  private let startLoading: @Sendable (NetworkTaskProcedure<Payload>, URLRequest) -> Void

  /// Makes a procedure that sends `request`, or its `input`.
  ///
  /// - Parameters:
  ///   - name: its name; by default method, host and path of the request.
  ///   - session: the session of the transfer.
  ///   - request: the request; nil if you set or inject it later.
  ///   - accepting: the statuses that count as success.
  ///   - sink: makes the sink when the procedure executes.
  public init<Sink: BodySink<Payload>>(
    name: String? = nil, session: URLSession = .shared, request: URLRequest? = nil,
    accepting: Set<Int> = successfulStatusCodes, sink: @escaping @Sendable () -> Sink
  ) {
    startLoading = { procedure, request in
      procedure.load(request, into: sink(), on: SinkLine.threads)
    }
    super.init(name: name ?? request?.summary, session: session, accepting: accepting)
    if let request { input = request }
  }

  /// Makes a procedure that passes the contents of a URL to a sink.
  public convenience init<Sink: BodySink<Payload>>(
    name: String? = nil, session: URLSession = .shared, url: URL,
    accepting: Set<Int> = successfulStatusCodes, sink: @escaping @Sendable () -> Sink
  ) {
    self.init(
      name: name, session: session, request: URLRequest(url: url), accepting: accepting,
      sink: sink)
  }

  /// Sends the request.
  public override func execute() {
    guard let input else { return failForLackOfInput() }
    startLoading(self, input)
  }
}
