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
  /// The contents of a regular file, read while it is sent; of a symbolic link, the file that it
  /// leads to when the transfer begins. A folder or a pipe fails at once, and on Linux so does a
  /// file whose size is not that of its contents, such as one in `/proc`.
  case file(URL)
}

extension UploadBody {
  /// The body to send: if it is a file, the file itself, which was checked. Foundation on Linux
  /// waits forever for a file that it cannot read, stops the program if the URL is no file URL, and
  /// sends as many bytes of a file as a symbolic link to it has.
  ///
  /// - Throws: the error that a session would report, which names the file.
  func resolved() throws(URLError) -> UploadBody {
    guard case .file(let url) = self else { return self }
    func refuse(_ code: URLError.Code) -> URLError { URLError(code, readingBodyFrom: url) }
    guard url.isFileURL else { throw refuse(.unsupportedURL) }
    switch url.fileType {
    case nil: throw refuse(.fileDoesNotExist)
    case S_IFREG: break
    case S_IFDIR: throw refuse(.fileIsDirectory)
    default: throw refuse(.cannotOpenFile)
    }
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw refuse(.noPermissionsToReadFile)
    }
    guard let file = Self.file(at: url) else { throw refuse(.cannotOpenFile) }
    return .file(file)
  }

  /// The file without symbolic links in its path; nil if its contents do not have its size.
  private static func file(at url: URL) -> URL? {
    guard
      let path = unsafe url.withUnsafeFileSystemRepresentation({ path in
        unsafe path.flatMap { unsafe realpath($0, nil) }
      })
    else { return nil }
    defer { unsafe free(path) }
    #if canImport(FoundationNetworking)
      guard unsafe hasItsSize(path) else { return nil }
    #endif
    return unsafe URL(
      fileURLWithFileSystemRepresentation: path, isDirectory: false, relativeTo: nil)
  }

  #if canImport(FoundationNetworking)
    /// Whether the last byte is where the size says. It does not wait, not even for a file of the
    /// system that does.
    private static func hasItsSize(_ path: UnsafePointer<CChar>) -> Bool {
      let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      var (status, byte) = (stat(), UInt8(0))
      guard unsafe fstat(descriptor, &status) == 0 else { return false }
      let size = status.st_size
      return unsafe pread(descriptor, &byte, 1, max(size - 1, 0)) == min(size, 1)
    }
  #endif
}
