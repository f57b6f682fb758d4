/// Where the plan comes from, by what the command line says and what files there are.
struct PlanSource: Equatable {
  static let fileName = "runbook.json"

  /// nil: the built-in plan.
  let path: String?
  let isDemo: Bool
  /// The steps and groups that are asked for; empty for all.
  let targets: [Name]

  /// The first word is a plan when it looks like a path: it ends in `.json`, contains a slash, or is
  /// `-`; or when there is such a file, and no `runbook.json` that it could be a step of.
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

  /// What was looked for, where there is no plan and none was asked for.
  var missing: String {
    let file = targets.first.map { ", and no file '\($0.shortened)'" } ?? ""
    return
      "there is no \(Self.fileName) in '\(Directory.current.visible.shortened)', or in a directory above"
      + "\(file); 'runbook --demo' runs a plan of its own"
  }

  private static func looksLikePath(_ word: String) -> Bool {
    word == "-" || word.utf8.contains(UInt8(ascii: "/")) || word.hasSuffix(".json")
  }

  /// In a directory or above it; seen from there if its name is no text.
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
