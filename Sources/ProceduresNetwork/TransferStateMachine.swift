#if canImport(FoundationNetworking)
  internal import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// The received part of a response, and the resulting end of the transfer.
///
/// ```
/// waiting → wanted | refused | broken      (a response may replace an earlier one: 401, then 200)
/// ```
///
/// 1. `wanted` has begun its sink; only this stage writes a body.
/// 2. A refused response keeps at most `NetworkError.longestBody` bytes of its body.
/// 3. `broken` is final.
/// 4. `request` is the one that is answered: after a redirect the redirect's.
struct TransferStateMachine {
  enum Stage {
    case waiting
    case wanted(HTTPURLResponse)
    case refused(HTTPURLResponse, body: Data)
    case broken(any Error)
  }

  enum ResponseAction {
    case begin(HTTPURLResponse)
    /// Cancel the task.
    case stop
    case none
  }

  enum Ending {
    case take(HTTPURLResponse)
    case fail(any Error)

    var isSuccess: Bool { if case .take = self { true } else { false } }
  }

  private var request: URLRequest
  private let acceptedStatusCodes: Set<Int>
  private var stage = Stage.waiting
  /// Whether the server has answered as after an action: with a redirect that was followed, or with
  /// anything but a refusal.
  private var hasActed = false
  private var received: Int64 = 0
  private var expected: Int64 = 0

  init(request: URLRequest, acceptedStatusCodes: Set<Int>) {
    self.request = request
    self.acceptedStatusCodes = acceptedStatusCodes
  }

  mutating func take(_ response: URLResponse) -> ResponseAction {
    if case .broken = stage { return .none }
    guard let response = response as? HTTPURLResponse else {
      hasActed = true
      stage = .broken(NetworkError(.notHTTP, request: request))
      return .none
    }
    guard acceptedStatusCodes.contains(response.statusCode) else {
      stage = .refused(response, body: Data())
      return .none
    }
    hasActed = true
    guard response.hasPossibleLength else {
      stage = .broken(URLError(.badServerResponse))
      return .stop
    }
    stage = .wanted(response)
    // The earlier part of a resumed download counts as received.
    let range = ContentRange(of: response)
    received = range?.start ?? 0
    expected = range?.total ?? sum(received, response.decodedLength) ?? -1
    return .begin(response)
  }

  mutating func follow(_ redirected: URLRequest) {
    (request, hasActed) = (redirected, true)
  }

  /// True if the sink must write the piece.
  mutating func take(_ data: Data) -> Bool {
    switch stage {
    case .wanted:
      // It saturates, since the server chose the start.
      received = sum(received, Int64(data.count)) ?? .max
      return true
    case .refused(let response, var body):
      stage = .waiting
      body.append(data.prefix(NetworkError.longestBody - body.count))
      stage = .refused(response, body: body)
      return false
    case .waiting, .broken:
      return false
    }
  }

  /// Whether no response has arrived.
  var isWaiting: Bool { if case .waiting = stage { true } else { false } }

  /// Whether an error or a cancel has ended it.
  var isBroken: Bool { if case .broken = stage { true } else { false } }

  /// nil while the length is unknown.
  var fractionReceived: Double? {
    expected > 0 ? min(Double(received) / Double(expected), 1) : nil
  }

  mutating func fail(_ error: any Error) {
    if case .broken = stage { return }
    stage = .broken(error)
  }

  func ending(_ error: (any Error)?) -> Ending {
    switch stage {
    case .broken(let cause): return .fail(cause)
    case _ where error != nil: return .fail(error ?? URLError(.unknown))
    case .refused(let response, let body):
      return .fail(
        NetworkError(
          .unacceptableStatus, request: requested(response), response: response, body: body))
    case .wanted(let response): return .take(response)
    case .waiting: return .fail(error ?? NetworkError(.notHTTP, request: request))
    }
  }

  /// Whether the server may have acted on the request, if the transfer ends now.
  func mayHaveActed(_ error: (any Error)?) -> Bool {
    guard !hasActed, case .fail(let cause) = ending(error) else { return true }
    return !UnrepeatableRequests.isProof(cause)
  }

  /// Nil if the length is unknown, or the sum overflows.
  private func sum(_ start: Int64, _ length: Int64) -> Int64? {
    let (sum, isTooLarge) = start.addingReportingOverflow(length)
    return length < 0 || isTooLarge ? nil : sum
  }

  private func requested(_ response: HTTPURLResponse) -> URLRequest {
    var request = request
    request.url = response.url ?? request.url
    return request
  }
}

extension HTTPURLResponse {
  /// False if its `Content-Length` overflows an `Int64`. libcurl then accepts any body as complete.
  fileprivate var hasPossibleLength: Bool {
    guard let length = value(forHTTPHeaderField: "Content-Length") else { return true }
    return Int64(length) != nil || length.isEmpty || !length.allSatisfy(\.isWholeNumber)
  }

  /// Whether it may have a body, if it answers `request`. A body that may be there and is empty is a
  /// body.
  package func mayHaveBody(after request: URLRequest) -> Bool {
    request.method != "HEAD" && ![204, 304].contains(statusCode) && statusCode >= 200
  }

  /// The length of its body, or a negative number if that is unknown, as for a compressed body,
  /// whose decoded length differs.
  package var decodedLength: Int64 {
    let encoding = value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
    return encoding.lowercased() == "identity" ? expectedContentLength : -1
  }
}
