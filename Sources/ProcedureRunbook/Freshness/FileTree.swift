#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file, or all files of a folder and the folders in it.
struct FileTree: Sendable {
  struct File: Sendable {
    /// Seen from the folder; empty for a file that is named itself.
    let name: String
    let path: String
    let status: FileStatus
  }

  let files: [File]

  /// - Parameter excluded: paths of what does not count in a folder, such as what a step makes there. Asked for if it
  ///   is one.
  init(
    _ path: String, without excluded: @autoclosure () -> Set<String> = []
  ) throws(FileProblem) {
    let status = try FileStatus(path)
    guard status.kind == .folder else {
      files = [File(name: "", path: path, status: status)]
      return
    }
    let excluded = excluded()
    var files: [File] = []
    var folders = [""]
    while let folder = folders.popLast() {
      let folderPath = folder.isEmpty ? path : "\(path)/\(folder)"
      guard let names = Directory.names(in: folderPath) else { throw FileProblem(errno) }
      for entry in names {
        let name = folder.isEmpty ? entry : "\(folder)/\(entry)"
        let file = Self.normal("\(path)/\(name)")
        guard entry != RunJournal.fileName, entry != JobFiles.folderName, !excluded.contains(file)
        else { continue }
        // A link to a folder counts as a link, so that none leads in a circle.
        let status = try FileStatus(file, followsLinks: false)
        if status.kind == .folder {
          folders.append(name)
        } else {
          let target = status.kind == .link ? try? FileStatus(file) : nil
          let counted = target?.kind == .file ? target ?? status : status
          files.append(File(name: name, path: file, status: counted))
        }
      }
    }
    self.files = files.sorted { $0.name < $1.name }
  }

  /// Equal when there are the same files, and none was changed.
  func addMarks(to fingerprint: inout Fingerprint) {
    fingerprint.add(UInt64(files.count))
    for file in files {
      fingerprint.add(file.name)
      fingerprint.add(UInt64(bitPattern: Int64(file.status.time.seconds)))
      fingerprint.add(UInt64(bitPattern: Int64(file.status.time.nanoseconds)))
      fingerprint.add(UInt64(bitPattern: Int64(file.status.size)))
    }
  }

  /// The newest of its files; nil when there is none.
  var newest: FileTime? {
    files.reduce(nil) { newest, file in newest.map { max($0, file.status.time) } ?? file.status.time
    }
  }

  /// Without what changes nothing: `a/./b`, `a//b`, `a/b/`.
  static func normal(_ path: String) -> String {
    guard !isNormal(path) else { return path }
    let parts = path.split(separator: "/").filter { $0 != "." }
    return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }

  /// Most paths are, and there are many.
  private static func isNormal(_ path: String) -> Bool {
    let slash = UInt8(ascii: "/")
    var (last, isFirst) = (slash, true)
    for byte in path.utf8 {
      // One slash may be the first.
      if last == slash, byte == slash && !isFirst || byte == UInt8(ascii: ".") { return false }
      (last, isFirst) = (byte, false)
    }
    return last != slash
  }
}
