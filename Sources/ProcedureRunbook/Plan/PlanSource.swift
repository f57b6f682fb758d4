/// Where the plan comes from, by what the command line says and what files there are.
struct PlanSource: Equatable {
  static let fileName = "runbook.json"

  /// nil: the built-in plan.
  let path: String?
  let isDemo: Bool
  /// The steps and groups that are asked for; empty for all.
  let targets: [String]

  /// The first word is a plan when it looks like a path: it ends in `.json`, contains a slash, or is
  /// `-`; or when there is such a file, and no `runbook.json` that it could be a step of.
  init(_ options: Options) {
    let found = Self.nearestPlan(from: Directory.current)
    isDemo = options.isDemo
    if options.isDemo {
      (path, targets) = (nil, [])
    } else if let path = options.planPath {
      (self.path, targets) = (path, options.words)
    } else if let first = options.words.first,
      Self.looksLikePath(first)
        || (found == nil && InputFile(first).isThere)
    {
      (path, targets) = (first, Array(options.words.dropFirst()))
    } else {
      (path, targets) = (found, options.words)
    }
  }

  /// What was looked for, where there is no plan and none was asked for.
  var missing: String {
    let file = targets.first.map { ", and no file '\($0.shortened)'" } ?? ""
    return
      "there is no \(Self.fileName) in '\(Directory.current.shortened)', or in a directory above"
      + "\(file); 'runbook --demo' runs a plan of its own"
  }

  private static func looksLikePath(_ word: String) -> Bool {
    word == "-" || word.contains("/") || word.hasSuffix(".json")
  }

  /// In a directory or above it.
  static func nearestPlan(from directory: String) -> String? {
    var parts = directory.split(separator: "/")
    while true {
      let path = parts.map { "/\($0)" }.joined() + "/" + fileName
      if InputFile(path).isThere { return path }
      guard parts.popLast() != nil else { return nil }
    }
  }
}
