internal import Foundation

/// What a run reads and writes.
enum ReportFile {
  static func read(atPath path: String) throws(UsageError) -> Report {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw UsageError(
        "'\(path)' cannot be read; '--compare' needs a file that '--json' has written")
    }
    do {
      return try decode(data)
    } catch {
      throw UsageError(
        "'\(path)' is not a run of this version of benchmarks; write it again with '--json'")
    }
  }

  static func decode(_ data: Data) throws -> Report {
    try JSONDecoder().decode(Report.self, from: data)
  }

  static func encode(_ report: Report) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(report) + Data("\n".utf8)
  }

  static func write(_ report: Report, toPath path: String) throws(UsageError) {
    do {
      try encode(report).write(to: URL(filePath: path))
    } catch {
      throw UsageError("'\(path)' cannot be written: \(error.localizedDescription)")
    }
  }

  static func write(_ text: String, toPath path: String) throws(UsageError) {
    do {
      try Data(text.utf8).write(to: URL(filePath: path))
    } catch {
      throw UsageError("'\(path)' cannot be written: \(error.localizedDescription)")
    }
  }

  static func checkWritable(_ path: String) throws(UsageError) {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let exists = FileManager.default.fileExists(atPath: path)
    guard FileManager.default.isWritableFile(atPath: exists ? path : folder) else {
      throw UsageError("'\(path)' cannot be written; name a file in a folder that exists")
    }
  }
}
