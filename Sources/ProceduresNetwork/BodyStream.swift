package import Foundation
#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

extension URLRequest {
  /// Opens the stream of the body, if there is one.
  ///
  /// Foundation on Linux sends an empty body for a stream that cannot be opened.
  ///
  /// - Throws: an error that names the file of the stream, if it has one.
  package func openBodyStream() throws(URLError) {
    guard let stream = httpBodyStream else { return }
    let file = stream.file
    // A folder can be opened, but not read.
    if file?.fileType == S_IFDIR { throw refusal(.fileIsDirectory, of: file) }
    stream.open()
    // Foundation on Linux stops the program if the error is read without one.
    guard stream.streamStatus == .error else { return }
    let cause: Any? = stream.streamError
    let code: URLError.Code =
      switch (cause as? NSError).map({ CInt($0.code) }) {
      case ENOENT, ENOTDIR: .fileDoesNotExist
      case EACCES, EPERM: .noPermissionsToReadFile
      default: .cannotOpenFile
      }
    throw refusal(code, of: file, because: cause)
  }

  private func refusal(
    _ code: URLError.Code, of file: URL?, because cause: Any? = nil
  ) -> URLError {
    var userInfo: [String: Any] = [:]
    if let cause { userInfo[NSUnderlyingErrorKey] = cause }
    if let file { return URLError(code, readingBodyFrom: file, userInfo: userInfo) }
    if let url { userInfo[NSURLErrorFailingURLErrorKey] = url }
    return URLError(code, userInfo: userInfo)
  }
}

extension URLError {
  /// The error for a file whose contents cannot be sent. It names the file.
  init(_ code: Code, readingBodyFrom file: URL, userInfo: [String: Any] = [:]) {
    let names: [String: Any] = [
      NSURLErrorFailingURLErrorKey: file, NSFilePathErrorKey: file.path,
    ]
    self.init(code, userInfo: userInfo.merging(names) { _, name in name })
  }
}

extension InputStream {
  /// The file that it reads; nil for other streams. Foundation shows it only in the description of
  /// an object inside, as `string = file:///a, encoding = …`.
  fileprivate var file: URL? {
    let storage = Mirror(reflecting: self).children.first { $0.label == "_streamStorage" }?.value
    guard let words = storage.map({ "\($0)" }),
      let start = words.firstRange(of: "string = ")?.upperBound,
      let end = words[start...].firstRange(of: ", encoding")?.lowerBound,
      let url = URL(string: String(words[start..<end])), url.isFileURL
    else { return nil }
    return url
  }
}

extension URL {
  /// The type of the file, such as `S_IFREG`, or of the file that a symbolic link leads to; nil if
  /// there is none.
  var fileType: mode_t? { fileMode(followingLinks: true).map { $0 & S_IFMT } }

  /// The type and the permissions of the file; nil if there is none.
  func fileMode(followingLinks: Bool) -> mode_t? {
    var status = stat()
    let isThere = unsafe withUnsafeFileSystemRepresentation { path in
      guard let path = unsafe path else { return false }
      return unsafe (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0
    }
    return isThere ? status.st_mode : nil
  }
}
