internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file `.runbook.log` beside a plan: which steps with outputs have succeeded, and with what.
///
/// A line is written before such a step runs and one after it succeeded, so that a step that
/// failed, or was stopped together with this process, is not taken for up to date because its
/// outputs are new. The file is read once, at the start; one that has grown is written anew then.
final class RunJournal: Sendable {
  /// The digests of a step when it succeeded last.
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
  private let state: Locked<State>

  private struct State {
    var records: [String: Record]
    var descriptor: Int32?
    var problem: String?
  }

  init(directory: String) {
    path = directory + "/" + Self.fileName
    let bytes = (try? InputFile(path).contents()) ?? []
    let lines = bytes.split(separator: 0x0A)
    let records = Self.records(lines)
    state = Locked(State(records: records))
    if lines.count > 100 + 3 * records.count { rewrite(records) }
  }

  func record(of step: String) -> Record? { state.withLock { $0.records[step] } }

  func note(_ record: Record, of step: String) {
    let line = Self.line(step, record)
    state.withLock { state in
      state.records[step] = record
      write(line, &state)
    }
  }

  /// The failure, in a sentence.
  var failure: String? {
    state.withLock { $0.problem }.map { "'\(path)' cannot be written: \($0)" }
  }

  // MARK: Lines: the record, what it was made of, and the name, with tabs between

  private static func records(_ lines: [ArraySlice<UInt8>]) -> [String: Record] {
    var records: [String: Record] = [:]
    for line in lines {
      let parts = line.split(separator: 0x09, maxSplits: 3, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      // A line that was not written to its end says nothing.
      guard parts.count == 4, let name = Self.name(encoded: parts[3]) else { continue }
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

  /// nil when it was not written to its end.
  private static func name(encoded text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2,
        let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private func write(_ line: String, _ state: inout State) {
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC
    let file = unsafe state.descriptor ?? open(path, flags, 0o666)
    guard file >= 0 else {
      state.problem = unsafe String(cString: strerror(errno))
      return
    }
    state.descriptor = file
    do throws(PatientWriter.Failure) {
      try PatientWriter(file).write(line.utf8)
    } catch {
      state.problem = "\(error)"
    }
  }

  /// Under another name first: what is there stays if this is stopped.
  private func rewrite(_ records: [String: Record]) {
    let text = records.map { Self.line($0.key, $0.value) }.joined()
    // If it cannot be done now, the file goes on growing.
    _ = OutputFile.replace(text, at: path)
  }
}
