public import Foundation
#if canImport(FoundationNetworking)
  public import FoundationNetworking
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

/// A response with its payload: the body in memory, or the file that it was written to.
public struct HTTPPayloadResponse<Payload: Sendable>: Sendable {
  /// The body, or the file that contains it.
  public var payload: Payload
  /// Status and header.
  public var response: HTTPURLResponse

  /// Makes a response, for tests of procedures that take it as input.
  public init(payload: Payload, response: HTTPURLResponse) {
    self.payload = payload
    self.response = response
  }

  /// For example 200.
  public var statusCode: Int { response.statusCode }
}

/// A request with its payload.
public struct HTTPPayloadRequest<Payload: Sendable>: Sendable {
  /// The body.
  public var payload: Payload
  /// The address and the method: set `httpMethod` to `"POST"` or `"PUT"`.
  public var request: URLRequest

  /// Makes a request with its payload.
  public init(payload: Payload, request: URLRequest) {
    self.payload = payload
    self.request = request
  }
}

/// The body of an upload.
public enum UploadBody: Sendable {
  /// These bytes.
  case data(Data)
  /// The contents of a regular file, read while it is sent. A folder or a pipe fails at once.
  case file(URL)
}

extension UploadBody {
  /// Checks the file: Foundation on Linux waits forever for a file that it cannot read, and stops
  /// the program if the URL is no file URL.
  ///
  /// - Throws: the error that a session would report, which names the file.
  func checkFile() throws(URLError) {
    guard case .file(let url) = self else { return }
    func refuse(_ code: URLError.Code) -> URLError {
      URLError(
        code, userInfo: [NSURLErrorFailingURLErrorKey: url, NSFilePathErrorKey: url.path])
    }
    guard url.isFileURL else { throw refuse(.unsupportedURL) }
    var status = stat()
    let isThere = unsafe url.withUnsafeFileSystemRepresentation { path in
      guard let path = unsafe path else { return false }
      return unsafe stat(path, &status) == 0
    }
    guard isThere else { throw refuse(.fileDoesNotExist) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw refuse(.fileIsDirectory)
    default: throw refuse(.cannotOpenFile)
    }
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw refuse(.noPermissionsToReadFile)
    }
  }
}
