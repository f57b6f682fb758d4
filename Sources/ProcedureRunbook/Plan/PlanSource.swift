/// The place of the plan, by the command line and the existing files.
struct PlanSource: Equatable {
  static let fileName = "runbook.json"

  /// nil for the built-in plan.
  let path: String?
  let isDemo: Bool
  /// The steps and groups to run; empty for all.
  let targets: [Name]

  /// The first word is a plan if it looks like a path: it ends in `.json`, contains a slash, or is
  /// `-`. It is also a plan if there is such a file, and no `runbook.json` that it could be a step
  /// of.
  init(_ options: Options) {
    let found = Self.nearestPlan(from: Directory.current)
    isDemo = options.isDemo
    var words = options.words[...]
    if options.isDemo {
      (path, words) = (nil, [])
    } else if let path = options.planPath {
      self.path = path
    } else if let first = words.first,
      Self.looksLikePath(first) || (found == nil && InputFile(first).isThere)
    {
      path = first
      words.removeFirst()
    } else {
      path = found
    }
    targets = words.map { Name($0) }
  }

  /// A sentence about a missing plan, if no plan was named and none was found.
  var missing: String {
    let file = targets.first.map { ", and no file '\($0.shortened)'" } ?? ""
    return
      "there is no \(Self.fileName) in '\(Directory.current.visible.shortened)', or in a directory above"
      + "\(file); 'runbook --demo' runs a plan of its own"
  }

  private static func looksLikePath(_ word: String) -> Bool {
    word == "-" || word.utf8.contains(UInt8(ascii: "/")) || word.hasSuffix(".json")
  }

  /// Searches a directory and those above it. The path is relative if it is not UTF-8.
  static func nearestPlan(from directory: FilePath) -> String? {
    var (above, way): (FilePath?, String) = (directory, "")
    while let folder = above {
      let path = folder.appending(fileName.utf8)
      if InputFile(path).isThere { return path.text ?? way + fileName }
      (above, way) = (folder.folder, way + "../")
    }
    return nil
  }
}
