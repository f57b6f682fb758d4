#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The demo plan: real work on the source files of this package.
enum BuiltInPlan {
  /// Whether the current directory is this package: then the built-in plan runs without an option.
  static var isAtHome: Bool {
    guard let package = try? packageDirectory(isFallbackAllowed: false) else { return false }
    return FileManager.default.fileExists(atPath: "\(package)/Sources/ProcedureRunbook")
  }

  /// Returns the package around the current directory, or the one that this program was built from.
  static func packageDirectory(isFallbackAllowed: Bool = true) throws(PlanError) -> String {
    let manager = FileManager.default
    func isPackage(_ directory: URL) -> Bool {
      manager.fileExists(atPath: directory.appending(path: "Package.swift").path)
        && manager.fileExists(atPath: directory.appending(path: "Sources").path)
    }
    var candidates = [URL(filePath: manager.currentDirectoryPath)]
    if isFallbackAllowed { candidates.append(URL(filePath: #filePath).deletingLastPathComponent()) }
    for candidate in candidates {
      var directory = candidate.standardizedFileURL
      for _ in 0..<directory.pathComponents.count {
        if isPackage(directory) { return directory.path }
        directory.deleteLastPathComponent()
      }
    }
    throw PlanError(
      .unreadable(reason: "the built-in plan needs a Swift package in the current directory"))
  }

  /// Returns four groups with a step for each part of the package, and a report after three of
  /// them. Only one step at a time reads a part, and only if it has Swift files.
  static func plan(package: String, folder: String) throws(PlanError) -> Plan {
    let parts =
      ["Package.swift"]
      + ["Sources", "Tests"].flatMap { top in
        let names = try? FileManager.default.contentsOfDirectory(atPath: "\(package)/\(top)")
        return (names ?? []).filter { !$0.hasPrefix(".") }.sorted().map { "\(top)/\($0)" }
      }
    var steps: [Step] = []
    for part in parts {
      let environment = [
        "PART": part, "FOLDER": folder, "NAME": part.replacing(scalar: "/", with: "-"),
      ]
      func step(_ group: Name, _ run: String, after: [Name] = []) -> Step {
        var step = Step(name: Name("\(group.text) \(part)"), run: run, after: after, group: group)
        (step.exclusive, step.onlyIf, step.timeout) = ([part], hasFiles, .seconds(60))
        (step.directory, step.environment) = (package, environment)
        return step
      }
      steps.append(step("checksum", checksum))
      steps.append(step("compress", compress))
      steps.append(step("verify", verify, after: [Name("compress \(part)")]))
      steps.append(step("count", count))
    }
    var last = Step(name: "report", run: report, after: ["checksum", "verify", "count"])
    (last.timeout, last.directory) = (.seconds(60), package)
    last.environment = ["FOLDER": folder]
    steps.append(last)
    return try Plan(steps: steps)
  }

  // The scripts need only POSIX tools and gzip. Each one works on the Swift files below $PART.

  private static let hasFiles = """
    find "$PART" -type f -name '*.swift' | grep -q .
    """

  private static let checksum = """
    find "$PART" -type f -name '*.swift' -exec cksum {} + > "$FOLDER/$NAME.cksum"
    """

  private static let compress = """
    find "$PART" -type f -name '*.swift' -exec sh -c '
      for file do
        mkdir -p "$FOLDER/files/$(dirname "$file")" || exit 1
        gzip -c "$file" > "$FOLDER/files/$file.gz" || exit 1
      done' sh {} +
    """

  private static let verify = """
    find "$PART" -type f -name '*.swift' -exec sh -c '
      for file do
        gzip -t "$FOLDER/files/$file.gz" || exit 1
        gzip -dc "$FOLDER/files/$file.gz" | cmp - "$file" || exit 1
      done' sh {} +
    """

  private static let count = """
    find "$PART" -type f -name '*.swift' -exec cat {} + | wc -l > "$FOLDER/$NAME.lines"
    """

  private static let report = """
    cat "$FOLDER"/*.cksum | awk '{ bytes += $2 } END { print NR " files, " bytes " bytes" }'
    cat "$FOLDER"/*.lines | awk '{ lines += $1 } END { print lines " lines" }'
    find "$FOLDER/files" -name '*.gz' -exec cat {} + | wc -c |
      awk '{ print $1 " bytes compressed, each file verified against its source" }'
    """
}
