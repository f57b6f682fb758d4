#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// All files of a folder and of the folders in it, behind links as well, and folders with nothing in them.
///
/// A folder that is reached in several ways is walked once, first of all as a part of the folder itself, so that no
/// link leads in a circle. Where it was walked already, a link counts as its own text.
struct FileTree: Sendable {
  struct File: Sendable {
    /// Seen from the folder.
    let name: FilePath
    let path: FilePath
    let status: FileStatus
  }

  /// In the order of their names.
  let files: [File]
  /// Where links have led.
  let linkedFolders: [FilePath]

  /// A folder, a link, or anything else on the way.
  private struct Entry {
    /// Seen from the folder that is walked; empty for that.
    let name: FilePath
    let path: FilePath
    /// Without links, where one has led here.
    let resolved: FilePath?
    let status: FileStatus
  }

  /// - Parameters:
  ///   - isLeftOut: whether a file or folder at a path does not count, as one that the reader makes itself.
  ///   - mayLeaveOut: whether something below a path may be left out: then it does not count that this is empty, since
  ///     folders of outputs are made before a step runs.
  init(
    _ path: FilePath, _ status: FileStatus, mayLeaveOut: (FilePath) -> Bool,
    isLeftOut: (FilePath) -> Bool
  ) throws(FileProblem) {
    var (files, linkedFolders): ([File], [FilePath]) = ([], [])
    var visited: Set = [status.identity]
    var folders = [Entry(name: FilePath([]), path: path, resolved: nil, status: status)]
    var links: [Entry] = []
    func add(_ entry: Entry) {
      files.append(File(name: entry.name, path: entry.path, status: entry.status))
    }
    while true {
      // 1. All that is not behind a link.
      while let folder = folders.popLast() {
        guard let entries = Directory.entries(in: folder.path) else {
          if errno == ENOENT { continue }
          throw FileProblem(errno)
        }
        if entries.isEmpty, folder.name.length > 0, !mayLeaveOut(folder.path),
          !(folder.resolved.map(mayLeaveOut) ?? false)
        {
          add(folder)
        }
        for inner in entries where !Self.isOwn(inner) {
          let name = folder.name.appending(inner.bytes)
          let file = folder.path.appending(inner.bytes)
          let resolved = folder.resolved?.appending(inner.bytes)
          if isLeftOut(file) || resolved.map(isLeftOut) ?? false { continue }
          let status: FileStatus
          do throws(FileProblem) {
            status = try FileStatus(file, followsLinks: false)
          } catch {
            // Removed since its name was read.
            if error == .missing { continue }
            throw error
          }
          let next = Entry(name: name, path: file, resolved: resolved, status: status)
          switch status.kind {
          case .folder where visited.insert(status.identity).inserted: folders.append(next)
          case .link: links.append(next)
          case .file, .folder, .other: add(next)
          }
        }
      }
      // 2. Then a link, which may lead to more of that.
      guard !links.isEmpty else { break }
      links.sort { $0.name > $1.name }
      guard let link = links.popLast() else { break }
      guard let target = try? FileStatus(link.path) else {
        add(link)
        continue
      }
      switch target.kind {
      case .folder where visited.insert(target.identity).inserted:
        let resolved = link.path.resolved
        if let resolved, isLeftOut(resolved) { continue }
        if let resolved { linkedFolders.append(resolved) }
        folders.append(
          Entry(name: link.name, path: link.path, resolved: resolved, status: target))
      case .file:
        files.append(File(name: link.name, path: link.path, status: target))
      default: add(link)
      }
    }
    self.files = files.sorted { $0.name < $1.name }
    self.linkedFolders = linkedFolders
  }

  private static let ownNames = [
    RunJournal.fileName, RunJournal.fileName + ".new", JobFiles.folderName,
  ].map { FilePath($0) }

  private static func isOwn(_ name: FilePath) -> Bool { ownNames.contains(name) }
}
