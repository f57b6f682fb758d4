#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Directories, by the system's own calls.
enum Directory {
  /// That of this process; the root if it has none any more.
  static var current: FilePath {
    guard let path = unsafe getcwd(nil, 0) else { return FilePath("/") }
    defer { unsafe free(path) }
    return unsafe FilePath(cString: path)
  }

  /// Where a path leads that begins in a directory; nil for that of this process.
  static func path(_ path: String, in directory: String?) -> String {
    guard let directory, path.utf8.first != UInt8(ascii: "/") else { return path }
    return "\(directory)/\(path)"
  }

  /// Makes it, and those above it that are missing; the reason if that cannot be done.
  static func make(_ path: String) -> String? {
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return nil }
    let slash = UInt8(ascii: "/")
    var part = FilePath(path.utf8.first == slash ? "/" : "")
    for name in path.utf8.split(separator: slash) {
      part = part.appending(name)
      guard unsafe part.withPointer({ unsafe mkdir($0, 0o777) }) != 0 else { continue }
      let code = errno
      // There already, or a root that cannot be written to.
      if (try? FileStatus(part))?.kind != .folder { return unsafe String(cString: strerror(code)) }
    }
    return nil
  }

  /// What its entries are called, for names that we give; nil when it cannot be read.
  static func names(in path: String) -> [String]? {
    entries(in: FilePath(path))?.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  /// The same as bytes: not every name is text.
  static func entries(in path: FilePath) -> [FilePath]? {
    guard let directory = unsafe path.withPointer({ unsafe opendir($0) }) else { return nil }
    defer { unsafe closedir(directory) }
    var names: [FilePath] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe FilePath(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
      }
      if name != FilePath("."), name != FilePath("..") { names.append(name) }
    }
    return names
  }
}
