/// Which step of a plan makes a file.
struct FileMakers: Sendable {
  /// A folder in which something is made.
  private struct Folder {
    /// The steps that make something that is directly in it.
    var makers: [Int] = []
    /// The folders in it in which something is made.
    var folders: [String] = []
  }

  private var makers: [String: Int] = [:]
  /// The length of the shortest path in `makers`.
  private var shortest = Int.max
  private var folders: [String: Folder] = [:]
  /// The length of the longest path in `folders`.
  private var longest = 0

  /// A file that two steps make is a mistake: its contents would depend on which of them ended last.
  init(_ steps: [Step]) throws(PlanError) {
    makers.reserveCapacity(steps.count)
    for (index, step) in steps.enumerated() {
      for output in step.outputs {
        let path = Self.shortest(step.path(of: output))
        if let other = makers[path] {
          guard other == index else {
            throw PlanError(.sameOutput(output, steps[other].name, step.name), in: step)
          }
        } else {
          makers[path] = index
          shortest = min(shortest, path.utf8.count)
          add(index, path)
        }
      }
    }
  }

  /// The steps that make a file, a folder that it is in, or, if it is a folder, something in it.
  func steps(making path: String) -> [Int] {
    let path = Self.shortest(path)
    var result: [Int] = []
    var above: String? = path
    // Most folders are too short to be something that is made.
    while let path = above, path.utf8.count >= shortest {
      if let maker = makers[path] {
        result.append(maker)
        break
      }
      above = Self.folder(of: path)
    }
    guard path.utf8.count <= longest, folders[path] != nil else { return result }
    var below = [path]
    while let path = below.popLast(), let folder = folders[path] {
      result += folder.makers
      below += folder.folders
    }
    return result
  }

  private mutating func add(_ step: Int, _ path: String) {
    guard var folder = Self.folder(of: path) else { return }
    var isKnown = folders[folder]?.makers.append(step) != nil
    if !isKnown {
      folders[folder] = Folder(makers: [step])
      longest = max(longest, folder.utf8.count)
    }
    while !isKnown, let parent = Self.folder(of: folder) {
      isKnown = folders[parent] != nil
      folders[parent, default: Folder()].folders.append(folder)
      folder = parent
    }
  }

  /// Without `..` where that leads out of a folder that is named, so that one file has one name here.
  private static func shortest(_ path: String) -> String {
    let dot = UInt8(ascii: ".")
    var last: UInt8 = 0
    let hasDots = path.utf8.contains { byte in
      defer { last = byte }
      return byte == dot && last == dot
    }
    guard hasDots else { return path }
    var parts: [Substring] = []
    for part in path.split(separator: "/") {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else if part != ".." || !path.hasPrefix("/") {
        parts.append(part)
      }
    }
    return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }

  /// Empty for the directory of this process; nil when there is none above.
  private static func folder(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
      return path.isEmpty ? nil : ""
    }
    if slash > path.startIndex { return String(path[..<slash]) }
    return path == "/" ? nil : "/"
  }
}
