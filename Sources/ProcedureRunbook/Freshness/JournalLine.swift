import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A line of the journal: its kind and fields, with tabs between.
///
/// ```
/// run      PROCESS MACHINE                   a process has the lock
/// plan     NUMBER PATH                       a plan that was run here
/// beside   DIRECTORY                         the journal there has records of plans here too
/// file     VERSION DIGEST STAMP PATH         contents of a file; - for a stamp that may mislead
/// started  PLAN STEP IDENTITY DOUBT OUTPUT…  a step began; with a doubt: its success is void
/// done     PLAN STEP COMMAND VARIABLES FILES INPUTS OUTPUTS DEPENDENCIES
///                                            it succeeded with these versions; - for no depfile
/// gone     OUTPUT                            no step makes it any more
/// empty    OUTPUT                            nothing of others was there when its step began
/// job      KEY-AND-ID MARKS FILE-OR-NAME     the step is a cluster job; without a key: it was one
/// ```
///
/// The identity in `started` is for people who read it. Names are bytes: `%20` stands for a space.
/// Paths are relative to the directory of the journal.
enum JournalLine: Equatable {
  case run(process: String, machine: String)
  case plan(Int, FilePath)
  case beside(FilePath)
  case file(version: Int32, digest: Fingerprint, stamp: Fingerprint?, FilePath)
  case started(plan: Int, step: Name, identity: Fingerprint, doubt: String?, outputs: [FilePath])
  case done(
    plan: Int, step: Name, StepIdentity, inputs: VersionList, outputs: VersionList,
    dependencies: VersionList?)
  case gone(FilePath)
  case empty(FilePath)
  case job(FilePath, RunJournal.Job?)

  /// The first line of each journal.
  static let head = "runbook journal 2\n"
  static let end = UInt8(ascii: "\n")
  private static let tab = UInt8(ascii: "\t")
  /// Ends a partial line: it adds a field too many, or an empty one, so that the line is ignored.
  static let endOfTorn = "\t\n"

  /// Returns nil for a partial line and for one with unknown contents.
  init?(_ bytes: ArraySlice<UInt8>) {
    var rest = Fields(rest: bytes)
    guard let kind = rest.next() else { return nil }
    switch kind.first {
    case UInt8(ascii: "f") where kind.elementsEqual("file".utf8):
      guard let version = rest.number(), let digest = rest.fingerprint(),
        let stamp = rest.next(), let name = rest.name()
      else { return nil }
      let known = Fingerprint(stamp)
      guard known != nil || stamp.elementsEqual("-".utf8) else { return nil }
      self = .file(version: version, digest: digest, stamp: known, name)
    case UInt8(ascii: "d") where kind.elementsEqual("done".utf8):
      guard let plan = rest.number(), let step = rest.text(), let command = rest.fingerprint(),
        let variables = rest.fingerprint(), let files = rest.fingerprint(),
        let inputs = rest.next().flatMap({ VersionList($0) }),
        let outputs = rest.next().flatMap({ VersionList($0) }), let last = rest.next()
      else { return nil }
      let dependencies = VersionList(last)
      guard dependencies != nil || last.elementsEqual("-".utf8) else { return nil }
      self = .done(
        plan: Int(plan), step: Name(step),
        StepIdentity(command: command, variables: variables, files: files), inputs: inputs,
        outputs: outputs, dependencies: dependencies)
    case UInt8(ascii: "s") where kind.elementsEqual("started".utf8):
      guard let plan = rest.number(), let step = rest.text(), let identity = rest.fingerprint(),
        let doubt = rest.text()
      else { return nil }
      var outputs: [FilePath] = []
      while !rest.isAtEnd {
        guard let name = rest.name() else { return nil }
        outputs.append(name)
      }
      self = .started(
        plan: Int(plan), step: Name(step), identity: identity, doubt: doubt == "-" ? nil : doubt,
        outputs: outputs)
    case UInt8(ascii: "p") where kind.elementsEqual("plan".utf8):
      guard let number = rest.number(), let path = rest.name() else { return nil }
      self = .plan(Int(number), path)
    case UInt8(ascii: "b") where kind.elementsEqual("beside".utf8):
      guard let path = rest.name() else { return nil }
      self = .beside(path)
    case UInt8(ascii: "r") where kind.elementsEqual("run".utf8):
      guard let process = rest.text(), let machine = rest.text() else { return nil }
      self = .run(process: process, machine: machine)
    case UInt8(ascii: "g") where kind.elementsEqual("gone".utf8):
      guard let name = rest.name() else { return nil }
      self = .gone(name)
    case UInt8(ascii: "e") where kind.elementsEqual("empty".utf8):
      guard let name = rest.name() else { return nil }
      self = .empty(name)
    case UInt8(ascii: "j") where kind.elementsEqual("job".utf8):
      guard let first = rest.next(), let marks = rest.next(), let name = rest.name() else {
        return nil
      }
      let words = first.split(separator: UInt8(ascii: " "))
        .map { String(decoding: $0, as: UTF8.self) }
      let reference = words.first.map {
        JobReference(key: $0, identifier: words.count > 1 ? words[1] : nil)
      }
      let text = String(decoding: marks, as: UTF8.self)
      self = .job(name, reference.map { RunJournal.Job(reference: $0, marks: text) })
    default: return nil
    }
    guard rest.isAtEnd else { return nil }
  }

  private struct Fields {
    /// nil after the last field.
    var rest: ArraySlice<UInt8>?

    var isAtEnd: Bool { rest == nil }

    mutating func next() -> ArraySlice<UInt8>? {
      guard let bytes = rest else { return nil }
      guard let tab = LineCutter.index(of: JournalLine.tab, in: bytes) else {
        rest = nil
        return bytes
      }
      rest = bytes[(tab + 1)...]
      return bytes[..<tab]
    }

    mutating func number() -> Int32? {
      guard let digits = next(), 1...9 ~= digits.count,
        digits.allSatisfy({ (0x30...0x39).contains($0) })
      else { return nil }
      return digits.reduce(0) { $0 * 10 + Int32($1 - 0x30) }
    }

    mutating func fingerprint() -> Fingerprint? { next().flatMap { Fingerprint($0) } }

    mutating func name() -> FilePath? {
      guard let bytes = next(), !bytes.isEmpty else { return nil }
      return JournalLine.decoded(bytes).map { FilePath($0) }
    }

    mutating func text() -> String? {
      guard let bytes = next(), !bytes.isEmpty else { return nil }
      return JournalLine.decoded(bytes).flatMap { String(validating: $0, as: UTF8.self) }
    }
  }

  /// The text, with its line end.
  var text: String {
    let fields: [String] =
      switch self {
      case .run(let process, let machine): ["run", process, machine]
      case .plan(let number, let path): ["plan", "\(number)", Self.encoded(path.bytes)]
      case .beside(let path): ["beside", Self.encoded(path.bytes)]
      case .file(let version, let digest, let stamp, let path):
        ["file", "\(version)", digest.text, stamp?.text ?? "-", Self.encoded(path.bytes)]
      case .started(let plan, let step, let identity, let doubt, let outputs):
        [
          "started", "\(plan)", Self.encoded(step.text.utf8), identity.text,
          Self.encoded((doubt ?? "-").utf8),
        ]
          + outputs.map { Self.encoded($0.bytes) }
      case .done(let plan, let step, let identity, let inputs, let outputs, let dependencies):
        [
          "done", "\(plan)", Self.encoded(step.text.utf8), identity.command.text,
          identity.variables.text, identity.files.text, inputs.text, outputs.text,
          dependencies?.text ?? "-",
        ]
      case .gone(let path): ["gone", Self.encoded(path.bytes)]
      case .empty(let path): ["empty", Self.encoded(path.bytes)]
      case .job(let name, let job):
        [
          "job",
          [job?.reference.key, job?.reference.identifier].compactMap { $0 }.joined(separator: " "),
          job?.marks ?? "", Self.encoded(name.bytes),
        ]
      }
    return fields.joined(separator: "\t") + "\n"
  }

  /// Says that this process has the lock.
  static var run: Self { .run(process: "\(getpid())", machine: machine) }

  /// The name of this machine.
  static var machine: String {
    var name = [CChar](repeating: 0, count: 256)
    _ = unsafe gethostname(&name, name.count - 1)
    let text = encoded(name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
    return text.isEmpty ? "-" : text
  }

  private static func encoded(_ name: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in name {
      if byte > 0x20 && byte != UInt8(ascii: "%") && byte < 0x7F {
        text.append(byte)
      } else {
        text.append(contentsOf: "%\(String(Int(byte) + 0x100, radix: 16).dropFirst())".utf8)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns nil for a partial escape.
  private static func decoded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let percent = UInt8(ascii: "%")
    guard LineCutter.index(of: percent, in: text) != nil else { return text }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == percent else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let code = Fingerprint(rest.prefix(2)), code.value > 0 else {
        return nil
      }
      bytes.append(UInt8(code.value))
      rest = rest.dropFirst(2)
    }
    return bytes[...]
  }
}

/// The combined contents of the lines of a journal.
struct JournalLines {
  private(set) var state: JournalState
  private var lastRun: (process: String, machine: String)?
  private(set) var count = 0
  /// Whether the file exists in another format than this one.
  let isForeign: Bool
  private let directory: FilePath

  /// - Parameters:
  ///   - directory: paths are relative to it.
  ///   - state: has files that already have numbers.
  init(_ bytes: [UInt8], in directory: FilePath, adding state: JournalState = JournalState()) {
    self.directory = directory
    self.state = state
    let head = Array(JournalLine.head.utf8)
    // A partial head counts as an empty journal.
    isForeign = !bytes.starts(with: head) && !head.starts(with: bytes)
    guard bytes.count >= head.count, !isForeign else { return }
    // The last line counts only if its end was written.
    var rest = bytes[head.count...]
    while let end = LineCutter.index(of: JournalLine.end, in: rest) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.isEmpty { continue }
      count += 1
      if let line = JournalLine(line) { apply(line) }
    }
  }

  private mutating func apply(_ line: JournalLine) {
    switch line {
    case .run(let process, let machine): lastRun = (process, machine)
    case .plan(let number, let path) where number < 10_000: state.setPlan(number, path)
    case .plan: break
    case .beside(let name): state.add(otherDirectory: path(name))
    case .file(let version, let digest, let stamp, let name):
      // Numbers are consecutive; a lost line leaves a gap.
      guard version < state.versions.count + 1_000_000 else { return }
      let file = state.number(of: path(name))
      state.set(version, .init(file: file, digest: digest), stamp)
    case .started(let plan, let step, _, let doubt, let outputs):
      let paths = outputs.map(path)
      let files = paths.map { state.number(of: $0) }
      state.start(.init(step: step, plan: plan, outputs: files, doubt: doubt))
    case .done(let plan, let step, let identity, let inputs, let outputs, let dependencies):
      state.succeed(
        .init(
          step: step, plan: plan, identity: identity, inputs: inputs, outputs: outputs,
          dependencies: dependencies))
    case .gone(let name): state.forget(path(name))
    case .empty(let name): state.noteEmpty(path(name))
    case .job(let name, let job): state.jobs[.init(name: name)] = job
    }
  }

  private func path(_ name: FilePath) -> FilePath {
    name.isAbsolute ? name : directory.appending(name.bytes)
  }

  /// The last owner of the lock, for a sentence; nil if it is not known, or has ended.
  var owner: String? {
    guard let (process, machine) = lastRun else { return nil }
    let isHere = machine == JournalLine.machine
    if isHere, let process = pid_t(process), kill(process, 0) != 0, errno == ESRCH { return nil }
    return "process \(process)" + (isHere ? "" : " on \(machine)")
  }
}
