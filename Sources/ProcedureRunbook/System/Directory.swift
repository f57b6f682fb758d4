#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum Directory {
  /// The current directory; the root if that was removed.
  static var current: FilePath {
    guard let path = unsafe getcwd(nil, 0) else { return FilePath("/") }
    defer { unsafe free(path) }
    return unsafe FilePath(cString: path)
  }

  /// Returns a path relative to a directory; nil stands for the current one.
  static func path(_ path: String, in directory: String?) -> String {
    guard let directory, path.utf8.first != UInt8(ascii: "/") else { return path }
    return "\(directory)/\(path)"
  }

  /// Creates a directory, and the missing ones above it. Returns the reason if that fails.
  static func make(_ path: String) -> String? {
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return nil }
    let slash = UInt8(ascii: "/")
    var part = FilePath(path.utf8.first == slash ? "/" : "")
    for name in path.utf8.split(separator: slash) {
      part = part.appending(name)
      guard unsafe part.withPointer({ unsafe mkdir($0, 0o777) }) != 0 else { continue }
      let code = errno
      // `mkdir` also fails for a folder that exists, or for a root that is read-only.
      if (try? FileStatus(part))?.kind != .folder { return unsafe String(cString: strerror(code)) }
    }
    return nil
  }

  /// The names of its entries, for names that this program gives; nil if it cannot be read.
  static func names(in path: String) -> [String]? {
    entries(in: FilePath(path))?.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  /// The names as bytes, since not every name is UTF-8.
  static func entries(in path: FilePath) -> [FilePath]? {
    entries(in: path) { name, _ in name }
  }

  /// The names, each with its kind; a link is a link.
  static func entriesWithKinds(in path: FilePath) -> [(FilePath, FileStatus.Kind)]? {
    entries(in: path) { name, type in
      let kind: FileStatus.Kind? =
        switch type {
        case UInt8(DT_DIR): .folder
        case UInt8(DT_LNK): .link
        case UInt8(DT_REG): .file
        // Not every file system says it with the name.
        case UInt8(DT_UNKNOWN):
          (try? FileStatus(path.appending(name.bytes), followsLinks: false))?.kind
        default: .other
        }
      return kind.map { (name, $0) }
    }
  }

  private static func entries<Entry>(
    in path: FilePath, _ entry: (_ name: FilePath, _ type: UInt8) -> Entry?
  ) -> [Entry]? {
    guard let directory = unsafe path.withPointer({ unsafe opendir($0) }) else { return nil }
    defer { unsafe closedir(directory) }
    var entries: [Entry] = []
    while let next = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &next.pointee.d_name) { name in
        unsafe FilePath(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
      }
      guard name != FilePath("."), name != FilePath("..") else { continue }
      if let found = entry(name, unsafe next.pointee.d_type) { entries.append(found) }
    }
    return entries
  }
}
