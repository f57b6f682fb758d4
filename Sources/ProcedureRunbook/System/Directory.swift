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
  static var current: String {
    guard let path = unsafe getcwd(nil, 0) else { return "/" }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  /// Where a path leads that begins in a directory; nil for that of this process.
  static func path(_ path: String, in directory: String?) -> String {
    guard let directory, !path.hasPrefix("/") else { return path }
    return "\(directory)/\(path)"
  }

  /// Makes it, and those above it that are missing; the reason if that cannot be done.
  static func make(_ path: String) -> String? {
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return nil }
    let parts = path.split(separator: "/")
    let isAbsolute = path.hasPrefix("/")
    for count in parts.indices {
      let part = (isAbsolute ? "/" : "") + parts[...count].joined(separator: "/")
      guard unsafe mkdir(part, 0o777) != 0 else { continue }
      let code = errno
      // There already, or a root that cannot be written to.
      let isThere = unsafe stat(part, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      if !isThere { return unsafe String(cString: strerror(code)) }
    }
    return nil
  }

  /// What its entries are called; nil when it cannot be read.
  static func names(in path: String) -> [String]? {
    guard let directory = unsafe opendir(path) else { return nil }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
