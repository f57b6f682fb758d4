internal import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Recodes errors that Foundation on Linux calls unknown, or unsupported URL, by libcurl's words in
/// them.
///
/// The code matters: an unknown error may be a broken connection, and is retried.
enum SessionError {
  /// The words, in lower case, and the code that the same error has on Apple's platforms.
  private static let codes: [(words: String, code: URLError.Code)] = [
    // Foundation refuses a header field, or a status line, in the callback that libcurl writes to.
    ("failed writing header", .cannotParseResponse),
    ("returned error on write", .cannotParseResponse),
    ("failed writing received data", .cannotParseResponse),
    ("failure writing output", .cannotParseResponse),
    ("invalid status line", .cannotParseResponse),
    ("header without colon", .cannotParseResponse),
    ("invalid content-length", .cannotParseResponse),
    ("nul byte in header", .cannotParseResponse),
    // libcurl reports a header line of more than 100 KB as "out of memory".
    ("too large response headers", .cannotParseResponse),
    ("out of memory", .cannotParseResponse),
    // Foundation reports these as an unsupported URL.
    ("http/0.9", .cannotParseResponse),
    ("unsupported response code", .cannotParseResponse),
    ("unsupported http version", .cannotParseResponse),
    ("chunked-encoding", .cannotParseResponse),
    ("content unencoding", .cannotDecodeContentData),
    ("content encoding", .cannotDecodeContentData),
    ("bytes remaining to read", .networkConnectionLost),
    ("outstanding read data", .networkConnectionLost),
    ("recv failure", .networkConnectionLost),
    ("send failure", .networkConnectionLost),
  ]

  static func clarified(_ error: any Error) -> any Error {
    guard let error = error as? URLError, [.unknown, .unsupportedURL].contains(error.code)
    else { return error }
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    let text = "\(error.localizedDescription) \(cause?.localizedDescription ?? "")".lowercased()
    guard let found = codes.first(where: { text.contains($0.words) }) else { return error }
    return URLError(found.code, userInfo: error.userInfo)
  }
}
