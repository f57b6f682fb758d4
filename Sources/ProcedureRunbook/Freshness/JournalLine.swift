import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A line of the journal: its kind, two texts, and a name, with tabs between.
///
/// ```
/// run        4711     node-3           -          process 4711 has the lock
/// started    -        -                sort       the step began
/// succeeded  COMMAND  INPUTS CONTENT   sort       and succeeded, with these
/// file       STAMP    DIGEST           /in/data   what is in a file that looks so
/// job        KEY ID   MARKS            sort       the step is a job of a cluster; without a key: it was
/// ```
enum JournalLine: Equatable {
  struct Digest: Equatable, Sendable {
    let stamp: FileStamp
    let digest: Fingerprint
  }

  case run(process: String, machine: String)
  case step(String, RunJournal.Record)
  case file(String, Digest)
  case job(String, RunJournal.Job?)

  static let end = UInt8(ascii: "\n")
  /// Behind what was not written to its end: no name has a tab, so the line counts for no step.
  static let endOfTorn = "\t\n"

  /// nil when it was not written to its end, or says nothing that is known here.
  init?(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    guard let kind = Self.field(of: &rest), let first = Self.field(of: &rest),
      let second = Self.field(of: &rest)
    else { return nil }
    func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    let word = text(kind)
    if word == "run" {
      self = .run(process: text(first), machine: text(second))
      return
    }
    guard let name = Self.name(encoded: rest) else { return nil }
    switch word {
    case "started":
      self = .step(name, .started)
    case "succeeded":
      let end = second.firstIndex(of: UInt8(ascii: " ")) ?? second.endIndex
      guard let command = Fingerprint(first), let marks = FileMarks(second[..<end]) else {
        return nil
      }
      let entry = RunJournal.Entry(
        command: command, marks: marks, content: Fingerprint(second[end...].dropFirst()))
      self = .step(name, .succeeded(entry))
    case "job":
      let words = first.split(separator: UInt8(ascii: " ")).map(text)
      let reference = words.first.map {
        JobReference(key: $0, identifier: words.count > 1 ? words[1] : nil)
      }
      self = .job(name, reference.map { RunJournal.Job(reference: $0, marks: text(second)) })
    case "file":
      guard let stamp = FileStamp(first), let digest = Fingerprint(second) else { return nil }
      self = .file(name, Digest(stamp: stamp, digest: digest))
    default:
      return nil
    }
  }

  /// What is before the next tab, which goes as well; nil when there is none.
  private static func field(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let tab = rest.firstIndex(of: 0x09) else { return nil }
    defer { rest = rest[(tab + 1)...] }
    return rest[..<tab]
  }

  /// With its end.
  var text: String {
    switch self {
    case .run(let process, let machine):
      "run\t\(process)\t\(machine)\t\n"
    case .step(let name, .started):
      "started\t\t\t\(Self.encoded(name))\n"
    case .step(let name, .succeeded(let entry)):
      "succeeded\t\(entry.command.text)\t\(entry.marks.text) \(entry.content?.text ?? "")\t\(Self.encoded(name))\n"
    case .job(let name, let job):
      "job\t\(Self.words(of: job?.reference))\t\(job?.marks ?? "")\t\(Self.encoded(name))\n"
    case .file(let name, let digest):
      "file\t\(digest.stamp.text)\t\(digest.digest.text)\t\(Self.encoded(name))\n"
    }
  }

  /// This process has the lock.
  static var run: Self { .run(process: "\(getpid())", machine: machine) }

  /// The name of this one.
  static var machine: String {
    var name = [CChar](repeating: 0, count: 256)
    _ = unsafe gethostname(&name, name.count - 1)
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return encoded(String(decoding: bytes, as: UTF8.self))
  }

  private static func words(of job: JobReference?) -> String {
    [job?.key, job?.identifier].compactMap { $0 }.joined(separator: " ")
  }

  private static func encoded(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      let isPlain = byte > 0x20 && byte != UInt8(ascii: "%") && byte < 0x7F
      let code = String(Int(byte) + 0x100, radix: 16).dropFirst()
      text += isPlain ? String(UnicodeScalar(byte)) : "%" + code
    }
    return text
  }

  /// nil when it was not written to its end.
  private static func name(encoded text: ArraySlice<UInt8>) -> String? {
    guard text.allSatisfy({ $0 > 0x20 }) else { return nil }
    guard text.contains(UInt8(ascii: "%")) else { return String(decoding: text, as: UTF8.self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text
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
}

/// What the lines of a journal say together.
struct JournalLines {
  private(set) var records: [String: RunJournal.Record] = [:]
  private(set) var digests: [String: JournalLine.Digest] = [:]
  /// Of steps whose job was not seen to end.
  private(set) var jobs: [String: RunJournal.Job] = [:]
  private var lastRun: (process: String, machine: String)?
  /// How many lines there are.
  private(set) var count = 0

  init(_ bytes: [UInt8]) {
    // The last line counts when its end was written.
    var rest = bytes[...]
    while let end = LineCutter.index(of: JournalLine.end, in: rest) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.isEmpty { continue }
      count += 1
      switch JournalLine(line) {
      case .run(let process, let machine): lastRun = (process, machine)
      case .step(let name, let record): records[name] = record
      case .file(let name, let digest): digests[name] = digest
      case .job(let name, let job): jobs[name] = job
      case nil: break
      }
    }
  }

  /// Who had the lock last, for a sentence; nil when that one could not say so.
  var owner: String? {
    guard let (process, machine) = lastRun else { return nil }
    let isHere = machine == JournalLine.machine
    if isHere, let process = pid_t(process), kill(process, 0) != 0, errno == ESRCH { return nil }
    return "process \(process)" + (isHere ? "" : " on \(machine)")
  }

  /// Those that count, and no others.
  var text: String {
    var text = ""
    for (name, record) in records { text += JournalLine.step(name, record).text }
    for (name, digest) in digests { text += JournalLine.file(name, digest).text }
    for (name, job) in jobs { text += JournalLine.job(name, job).text }
    return text
  }
}
