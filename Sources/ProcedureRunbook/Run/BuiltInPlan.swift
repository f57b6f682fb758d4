#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The plan that runs without arguments: real work on the source files of this package.
enum BuiltInPlan {
  /// Whether the current directory is in the package that this is part of: there it is run without being
  /// asked for.
  static var isAtHome: Bool {
    guard let package = try? packageDirectory(isFallbackAllowed: false) else { return false }
    return FileManager.default.fileExists(atPath: "\(package)/Sources/ProcedureRunbook")
  }

  /// The package to work on: around the current directory, else the one this was built from.
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

  /// Four groups with a step for each part of the package, then a report after three of them. Each
  /// part is read by one step at a time, and only if there is something to read.
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

  // Only what POSIX has (and gzip). Each script works on the Swift files below $PART.

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
