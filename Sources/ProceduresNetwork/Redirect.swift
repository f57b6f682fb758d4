#if canImport(FoundationNetworking)
  internal import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// The request that follows a redirect: the only code that decides it, for sessions and for fakes.
///
/// | status | method | body |
/// |---|---|---|
/// | 303 | GET; HEAD stays | none |
/// | 301, 302 after a POST | GET | none |
/// | 301, 302 after any other method | the same | the same |
/// | 307, 308 | the same | the same |
///
/// Any other status is a final response, and so is a redirect to an address that is not HTTP.
///
/// 1. The header fields of the body are sent only with the body.
/// 2. `Authorization`, `Cookie`, `Proxy-Authorization` and `Host` are sent only to the same origin:
///    scheme, host and port. All other fields are sent along.
package struct Redirect {
  /// More redirects count as a circle.
  package static let limit = 20

  /// The request to the new address, with the `httpBody` if that is sent again.
  package let request: URLRequest
  /// Whether the body of an upload is sent again.
  package let keepsBody: Bool

  /// Nil if the response is not a redirect to follow.
  package init?(after response: HTTPURLResponse, to old: URLRequest) {
    guard let place = Self.place(of: response, to: old) else { return nil }
    let method = old.method
    var new = old
    new.url = place
    switch (response.statusCode, method) {
    case (303, "GET"), (303, "HEAD"), (307, _), (308, _): keepsBody = true
    case (303, _), (301, "POST"), (302, "POST"): keepsBody = false
    case (301, _), (302, _): keepsBody = true
    default: return nil
    }
    if !keepsBody {
      (new.httpMethod, new.httpBody, new.httpBodyStream) = ("GET", nil, nil)
      new.removeFields { $0.hasPrefix("content-") || $0 == "transfer-encoding" || $0 == "expect" }
    }
    if Origin(place) != old.url.flatMap(Origin.init) {
      new.removeFields {
        ["authorization", "cookie", "proxy-authorization", "host"].contains($0)
      }
    }
    request = new
  }

  private static func place(of response: HTTPURLResponse, to old: URLRequest) -> URL? {
    guard let location = response.value(forHTTPHeaderField: "Location"), !location.isEmpty,
      let place = URL(string: location, relativeTo: old.url)?.absoluteURL, Origin(place) != nil
    else { return nil }
    return place
  }
}

/// Scheme, host and port of an HTTP address.
struct Origin: Hashable {
  let scheme: String
  let host: String
  let port: Int

  init?(_ url: URL) {
    guard let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased(), !host.isEmpty
    else { return nil }
    switch scheme {
    case "http": port = url.port ?? 80
    case "https": port = url.port ?? 443
    default: return nil
    }
    (self.scheme, self.host) = (scheme, host)
  }
}

extension URLRequest {
  var method: String { (httpMethod ?? "GET").uppercased() }

  /// Whether the method is idempotent: receiving the request twice has the same effect as once.
  var isIdempotent: Bool { Self.isIdempotent(method) }

  static func isIdempotent(_ method: String) -> Bool {
    ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
  }

  /// Whether a body can be sent with its method.
  var mayHaveBody: Bool { !["GET", "HEAD"].contains(method) }

  /// The request as it is sent.
  ///
  /// 1. The scheme is in lower case: Foundation on Linux knows no other spelling.
  /// 2. A body has its own length. A `Content-Length` of the user's that differs would cut it, or
  ///    make the server wait for more. Only the length of a stream is what the user says.
  package var asSent: URLRequest {
    var sent = self
    if let scheme = url?.scheme?.lowercased(), let text = url?.absoluteString,
      !text.hasPrefix(scheme), let url = URL(string: scheme + text.dropFirst(scheme.count))
    {
      sent.url = url
    }
    if httpBodyStream == nil { sent.removeFields { $0 == "content-length" } }
    return sent
  }

  /// - Returns: the body of the upload, with its file itself instead of a link to it.
  /// - Throws: if its own body or the body of an upload cannot be sent.
  package func checkedBody(_ upload: UploadBody?) throws -> UploadBody? {
    if !mayHaveBody, hasBody(upload) { throw NetworkError(.bodyNotAllowed, request: self) }
    if hasUsedStream { throw NetworkError(.bodyNotRepeatable, request: self) }
    return try upload?.resolved()
  }

  func hasBody(_ upload: UploadBody?) -> Bool {
    upload != nil || !(httpBody ?? Data()).isEmpty || httpBodyStream != nil
  }

  /// Whether its body is a stream that was opened, and cannot be read again.
  var hasUsedStream: Bool {
    httpBodyStream.map { $0.streamStatus != .notOpen } ?? false
  }

  /// - Parameter isRemoved: called with the name of each field, in lower case.
  fileprivate mutating func removeFields(where isRemoved: (String) -> Bool) {
    for name in (allHTTPHeaderFields ?? [:]).keys where isRemoved(name.lowercased()) {
      setValue(nil, forHTTPHeaderField: name)
    }
  }
}
