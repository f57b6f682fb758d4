internal import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Recodes errors of Foundation on Linux by libcurl's words in them: errors that it calls unknown,
/// or unsupported URL, and errors that it calls a refused connection although there was one.
///
/// The code matters: an unknown error may be a broken connection, and is retried. After a refused
/// connection a POST is retried, too, since it was not sent.
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
    // Foundation codes these itself, unless an address of the host has refused before.
    ("empty reply", .badServerResponse),
    ("timed out", .timedOut),
  ]

  static func clarified(_ error: any Error) -> any Error {
    guard let error = error as? URLError else { return error }
    let isMiscoded = isConnected(error)
    guard isMiscoded || [.unknown, .unsupportedURL].contains(error.code) else { return error }
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    let text = "\(error.localizedDescription) \(cause?.localizedDescription ?? "")".lowercased()
    guard let found = codes.first(where: { text.contains($0.words) }) else {
      return isMiscoded ? URLError(.unknown, userInfo: error.userInfo) : error
    }
    return URLError(found.code, userInfo: error.userInfo)
  }

  /// Whether the error may be one of a connection, although it has the code for none.
  ///
  /// If the first address of a host refuses, libcurl tries the next, but keeps the refusal as the
  /// last error of the system. Foundation on Linux then gives every later error of the request this
  /// code. Only libcurl's words tell them apart. An error without words is not libcurl's.
  private static func isConnected(_ error: URLError) -> Bool {
    #if canImport(FoundationNetworking)
      guard error.code == .cannotConnectToHost,
        let words = error.userInfo[NSLocalizedDescriptionKey] as? String
      else { return false }
      return !["failed to connect", "could not connect", "couldn't connect"]
        .contains(where: words.lowercased().hasPrefix)
    #else
      return false
    #endif
  }
}
