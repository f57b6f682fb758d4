#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// All files of a folder and of the folders in it, behind links as well, and empty folders.
///
/// A folder that can be reached in several ways is walked once, preferably without a link, so that
/// no link leads in a circle. A link to a folder that was already walked, or to anything that is
/// left out, counts as its own text.
struct FileTree: Sendable {
  struct File: Sendable {
    /// The path relative to the folder.
    let name: FilePath
    let path: FilePath
    let status: FileStatus
  }

  /// The files in the order of their names.
  let files: [File]
  /// The folders that links led to, and the folders of files that links led to.
  let linkedFolders: [FilePath]

  /// An entry that must still be visited: a folder or a link.
  private struct Entry {
    /// The path relative to the walked folder; empty for that folder.
    let name: FilePath
    let path: FilePath
    /// The path with links resolved, if a link led here.
    let resolved: FilePath?
    let status: FileStatus
  }

  /// - Parameters:
  ///   - isLeftOut: whether to ignore the file or folder at a path, such as an output of the
  ///     reader.
  ///   - mayLeaveOut: whether something below a path may be left out: then it does not count if
  ///     that folder is empty, since the folders of outputs are created before a step runs.
  init(
    _ path: FilePath, _ status: FileStatus, mayLeaveOut: (FilePath) -> Bool,
    isLeftOut: (FilePath) -> Bool
  ) throws(FileProblem) {
    var (files, linkedFolders): ([File], Set<FilePath>) = ([], [])
    var visited: Set = [status.identity]
    var folders = [Entry(name: FilePath([]), path: path, resolved: nil, status: status)]
    var links: [Entry] = []
    func add(_ entry: Entry) {
      files.append(File(name: entry.name, path: entry.path, status: entry.status))
    }
    while true {
      // 1. Visit everything that is not behind a link.
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
            // The file was removed after its name was read.
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
      // 2. Follow one link, which may lead to further folders.
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
        if let resolved, isLeftOut(resolved) {
          add(link)
          continue
        }
        if let resolved { linkedFolders.insert(resolved) }
        folders.append(
          Entry(name: link.name, path: link.path, resolved: resolved, status: target))
      case .file:
        let resolved = link.path.resolved
        if let resolved, isLeftOut(resolved) {
          add(link)
          continue
        }
        if let folder = resolved?.folder { linkedFolders.insert(folder) }
        files.append(File(name: link.name, path: link.path, status: target))
      default: add(link)
      }
    }
    self.files = files.sorted { $0.name < $1.name }
    self.linkedFolders = Array(linkedFolders)
  }

  private static let ownNames = [
    RunJournal.fileName, RunJournal.fileName + ".new", JobFiles.folderName,
  ].map { FilePath($0) }

  static func isOwn(_ name: FilePath) -> Bool { ownNames.contains(name) }
}

extension FilePath {
  /// Whether it is a journal, a file of a job, or another file that only this program writes.
  var isOfRunbook: Bool {
    bytes.split(separator: UInt8(ascii: "/")).contains { FileTree.isOwn(FilePath($0)) }
  }
}
