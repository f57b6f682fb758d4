internal import Foundation

/// What the figures were measured on.
struct Machine: Codable, Equatable {
  let system: String
  let architecture: String
  let cores: Int
  let processor: String?

  /// This one.
  static var current: Machine {
    Machine(
      system: ProcessInfo.processInfo.operatingSystemVersionString,
      architecture: architectureName,
      cores: ProcessInfo.processInfo.activeProcessorCount,
      processor: processorName)
  }

  /// For example `2 × Xeon, x86_64, Ubuntu 24.04`.
  var text: String {
    "\(cores) cores\(processor.map { " of \($0)" } ?? ""), \(architecture), \(system)"
  }

  private static var architectureName: String {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "arm64"
    #else
      "unknown"
    #endif
  }

  /// As the kernel of Linux calls it; nil elsewhere.
  private static var processorName: String? {
    guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else {
      return nil
    }
    let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }
}

/// What is checked out where the command runs.
enum Commit {
  /// As git describes it; nil without git, or outside a repository.
  static var current: String? {
    let git = Process()
    git.executableURL = URL(filePath: "/usr/bin/env")
    git.arguments = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    let output = Pipe()
    git.standardOutput = output
    git.standardError = FileHandle.nullDevice
    guard (try? git.run()) != nil else { return nil }
    let text = (try? output.fileHandleForReading.readToEnd()) ?? Data()
    git.waitUntilExit()
    guard git.terminationStatus == 0 else { return nil }
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
