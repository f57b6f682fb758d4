internal import ProcedurePrimitives

/// Says whether two paths are one file, although links lead to it.
///
/// ```
/// link → out      `link/x` and `out/x` have the real path `out/x`
/// now → out/x     `now` is a link, and keeps its name; its target is `out/x`
/// ```
///
/// Folders are resolved as far as they exist, each once.
final class RealPaths: Sendable {
  private let folders = Locked<[FilePath: FilePath]>([:])

  /// The path with all links in its folders resolved. A link itself is not: a step may make it.
  func real(_ path: FilePath) -> FilePath {
    guard let folder = path.folder, let name = path.name else {
      return path.resolved ?? path.shortest
    }
    return real(folder: folder).appending(name)
  }

  /// The file that a link leads to; nil if the path is no link, or leads to nothing.
  func target(_ path: FilePath) -> FilePath? {
    guard (try? FileStatus(path, followsLinks: false))?.kind == .link else { return nil }
    return path.resolved
  }

  private func real(folder: FilePath) -> FilePath {
    if let known = folders.withLock({ $0[folder] }) { return known }
    let isCurrent = folder.length == 0
    let real = isCurrent ? FilePath(".").resolved ?? folder : folder.resolved ?? real(folder)
    folders.withLock { $0[folder] = real }
    return real
  }
}

extension FilePath {
  /// Its last part; nil if that is none of a file: of the root, of the empty path, and for `..`.
  fileprivate var name: ArraySlice<UInt8>? {
    let slash = UInt8(ascii: "/")
    let name = bytes.lastIndex(of: slash).map { bytes[($0 + 1)...] } ?? bytes
    return name.isEmpty || name.elementsEqual("..".utf8) ? nil : name
  }
}
