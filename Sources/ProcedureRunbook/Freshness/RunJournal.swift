import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file `.runbook.log` beside a plan: which steps with outputs have succeeded, and with what.
///
/// A line is written before such a step runs and one after it succeeded, so that a step that failed,
/// or was stopped together with this process, is not taken for up to date because its outputs are new.
/// What is there is read once, at the start; a file that has grown is written anew then.
final class RunJournal: @unchecked Sendable {
  /// What a step was made of when it succeeded last.
  struct Entry: Equatable {
    /// Stands for its command.
    let command: String
    /// Stands for its inputs and outputs; empty where times decide.
    let content: String
  }

  enum Record: Equatable {
    case started
    case succeeded(Entry)
  }

  static let fileName = ".runbook.log"

  private let path: String
  private let lock = NSLock()
  private var records: [String: Record]
  private var descriptor: Int32?
  private var problem: String?

  init(directory: String) {
    path = directory + "/" + Self.fileName
    let bytes = (try? InputFile(path).contents()) ?? []
    let lines = bytes.split(separator: 0x0A)
    records = Self.records(lines)
    if lines.count > 100 + 3 * records.count { rewrite() }
  }

  func record(of step: String) -> Record? { lock.withLock { records[step] } }

  func note(_ record: Record, of step: String) {
    lock.withLock {
      records[step] = record
      write(Self.line(step, record))
    }
  }

  /// What went wrong, in a sentence.
  var failure: String? {
    lock.withLock { problem.map { "'\(path)' cannot be written: \($0)" } }
  }

  // MARK: Lines: the record, what it was made of, and the name, with tabs between

  private static func records(_ lines: [ArraySlice<UInt8>]) -> [String: Record] {
    var records: [String: Record] = [:]
    for line in lines {
      let parts = line.split(separator: 0x09, maxSplits: 3, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      // A line that was not written to its end says nothing.
      guard parts.count == 4, let name = parts[3].removingPercentEncoding else { continue }
      switch parts[0] {
      case "started": records[name] = .started
      case "succeeded": records[name] = .succeeded(Entry(command: parts[1], content: parts[2]))
      default: continue
      }
    }
    return records
  }

  private static func line(_ step: String, _ record: Record) -> String {
    var name = ""
    for byte in step.utf8 {
      let isPlain = byte > 0x20 && byte != UInt8(ascii: "%") && byte < 0x7F
      let code = String(Int(byte) + 0x100, radix: 16).dropFirst()
      name += isPlain ? String(UnicodeScalar(byte)) : "%" + code
    }
    switch record {
    case .started: return "started\t\t\t\(name)\n"
    case .succeeded(let entry): return "succeeded\t\(entry.command)\t\(entry.content)\t\(name)\n"
    }
  }

  private func write(_ line: String) {
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC
    let file = unsafe descriptor ?? open(path, flags, 0o666)
    guard file >= 0 else {
      problem = unsafe String(cString: strerror(errno))
      return
    }
    descriptor = file
    do throws(PatientWriter.Failure) {
      try PatientWriter(file).write(line.utf8)
    } catch {
      problem = "\(error)"
    }
  }

  /// Under another name first: what is there stays if this is stopped.
  private func rewrite() {
    let text = records.map { Self.line($0.key, $0.value) }.joined()
    try? Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
  }
}
