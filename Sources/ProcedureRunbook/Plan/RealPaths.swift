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
  /// The targets of links by the folder that has the links.
  private let targets = Locked<[FilePath: [FilePath]]>([:])

  /// The path with all links in its folders resolved. A link itself is not: a step may make it.
  func real(_ path: FilePath) -> FilePath {
    guard let folder = path.folder, let name = path.name else {
      return path.resolved ?? path.shortest
    }
    return real(folder: folder).appending(name)
  }

  /// The file that a link leads to, which a step may still have to make; nil if the path is no link.
  func target(_ path: FilePath) -> FilePath? {
    guard Self.isLink(path) else { return nil }
    if let resolved = path.resolved { return resolved }
    var link = path
    // Links in a circle lead nowhere.
    for _ in 0..<Self.mostLinks {
      guard let text = link.linkText else { return nil }
      let folder = text.isAbsolute ? nil : link.folder
      let next = folder.map { $0.appending(text.bytes) } ?? text
      link = real(FilePath.normal(Array(next.bytes)))
      if !Self.isLink(link) { return link }
    }
    return nil
  }

  /// The files and folders that links in a folder, and in the folders in it, lead to: behind links
  /// as well. Each folder is walked once.
  func targets(ofLinksIn folder: FilePath) -> [FilePath] {
    let folder = folder.resolved ?? folder
    if let known = targets.withLock({ $0[folder] }) { return known }
    var found: [FilePath] = []
    var visited: Set = [folder]
    var rest = [folder]
    while let folder = rest.popLast() {
      for (name, kind) in Directory.entriesWithKinds(in: folder) ?? [] {
        let path = folder.appending(name.bytes)
        switch kind {
        case .folder: if visited.insert(path).inserted { rest.append(path) }
        case .link:
          guard let target = target(path) else { continue }
          found.append(target)
          if (try? FileStatus(target))?.kind == .folder, visited.insert(target).inserted {
            rest.append(target)
          }
        case .file, .other: continue
        }
      }
    }
    targets.withLock { $0[folder] = found }
    return found
  }

  private static let mostLinks = 40

  private static func isLink(_ path: FilePath) -> Bool {
    (try? FileStatus(path, followsLinks: false))?.kind == .link
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
