/// A journal: files by number, their versions, and the records of steps.
struct JournalState: Sendable {
  struct File: Sendable {
    let path: FilePath
    /// The version seen last.
    var version: Int32?
    /// The stamp of the file then; nil if it may have changed without a trace since.
    var stamp: Fingerprint?
    /// The record of the step that made it last.
    var record: Int32?
    /// Whether all of it comes from steps: nothing of others was there, or in it if it is a folder,
    /// when its step began for the first time.
    var wasEmpty = false
  }

  /// The contents of a file at one time.
  struct Version: Sendable {
    let file: Int32
    let digest: Fingerprint
  }

  private(set) var files: [File] = []
  private var numbers: [FilePath: Int32] = [:]
  /// nil for a lost line.
  private(set) var versions: [Version?] = []
  private(set) var records: [StepRecord?] = []
  /// The records of steps without outputs. Each is of the last step that ran under its name.
  private var recordsByName: [Name: Int32] = [:]
  /// nil for a lost line.
  private(set) var plans: [FilePath?] = []
  /// Directories whose journals have records of plans of this directory.
  private(set) var otherDirectories: [FilePath] = []
  var jobs: [JobKey: RunJournal.Job] = [:]

  /// Found by a name, or by the first output: few steps are submitted as jobs.
  struct JobKey: Hashable, Sendable {
    let name: FilePath
  }

  /// Returns a copy with the same files under the same numbers, and nothing else.
  func withoutRecords() -> Self {
    var state = Self()
    state.files = files.map { File(path: $0.path) }
    state.numbers = numbers
    return state
  }

  // MARK: Files

  mutating func number(of path: FilePath) -> Int32 {
    if let number = numbers[path] { return number }
    let number = Int32(files.count)
    numbers[path] = number
    files.append(File(path: path))
    return number
  }

  subscript(file number: Int32) -> File { files[Int(number)] }

  func version(_ number: Int32) -> Version? {
    number < versions.count ? versions[Int(number)] : nil
  }

  /// Returns the digest of a file with this stamp, if it is known.
  func digest(of number: Int32, _ stamp: Fingerprint) -> Fingerprint? {
    let file = files[Int(number)]
    guard file.stamp == stamp, let version = file.version else { return nil }
    return self.version(version)?.digest
  }

  /// Notes the contents of a file.
  ///
  /// - Parameter stamp: nil keeps the known stamp, if the contents are the same.
  /// - Returns: the number of this version, and whether the journal must note it.
  mutating func note(
    _ digest: Fingerprint, of number: Int32, _ stamp: Fingerprint?
  ) -> (version: Int32, isNew: Bool) {
    let file = files[Int(number)]
    if let version = file.version, self.version(version)?.digest == digest {
      guard let stamp, file.stamp != stamp else { return (version, false) }
      files[Int(number)].stamp = stamp
      return (version, true)
    }
    let version = Int32(versions.count)
    set(version, Version(file: number, digest: digest), stamp)
    return (version, true)
  }

  /// Stores a version under its number.
  mutating func set(_ number: Int32, _ version: Version, _ stamp: Fingerprint?) {
    while versions.count <= number { versions.append(nil) }
    versions[Int(number)] = version
    files[Int(version.file)].version = number
    files[Int(version.file)].stamp = stamp
  }

  mutating func number(ofPlan path: FilePath) -> Int {
    if let number = plans.firstIndex(of: path) { return number }
    plans.append(path)
    return plans.count - 1
  }

  mutating func setPlan(_ number: Int, _ path: FilePath?) {
    while plans.count <= number { plans.append(nil) }
    plans[number] = path
  }

  /// Returns whether the directory is new.
  @discardableResult
  mutating func add(otherDirectory path: FilePath) -> Bool {
    guard !otherDirectories.contains(path) else { return false }
    otherDirectories.append(path)
    return true
  }

  // MARK: Records

  func record(at keys: RecordKeys) -> StepRecord? {
    switch keys {
    case .name(let name):
      return recordsByName[name].flatMap { records[Int($0)] }
    case .outputs(let paths):
      // All outputs must have the same record: if another step has made one since, this one is not
      // valid.
      var found: Int32?
      for path in paths {
        guard let number = numbers[path], let record = files[Int(number)].record,
          found ?? record == record
        else { return nil }
        found = record
      }
      return found.flatMap { records[Int($0)] }
    }
  }

  mutating func start(_ start: StepRecord.Start) {
    add(.started(start), start.outputs, start.step)
  }

  /// - Returns: false if the line of a version was lost.
  @discardableResult
  mutating func succeed(_ success: StepRecord.Success) -> Bool {
    let lists = [success.inputs, success.outputs, success.dependencies].compactMap { $0 }
    for run in lists.lazy.flatMap(\.runs) {
      guard run.upperBound < versions.count, run.allSatisfy({ versions[Int($0)] != nil }) else {
        return false
      }
    }
    // The last output is the depfile, which has no record.
    var outputs = success.outputs.compactMap { version($0)?.file }
    if success.dependencies != nil { outputs = outputs.dropLast() }
    add(.succeeded(success), outputs, success.step)
    return true
  }

  private mutating func add(_ record: StepRecord, _ outputs: [Int32], _ name: Name) {
    let index = Int32(records.count)
    records.append(record)
    for file in outputs {
      let path = files[Int(file)].path
      let shortest = path.shortest
      let number = path == shortest ? file : number(of: shortest)
      files[Int(number)].record = index
    }
    recordsByName[name] = outputs.isEmpty ? index : nil
  }

  /// Notes that no step makes the file any more. Returns whether it was known to come from steps.
  @discardableResult
  mutating func forget(_ path: FilePath) -> Bool {
    guard let number = numbers[path] else { return false }
    files[Int(number)].record = nil
    defer { files[Int(number)].wasEmpty = false }
    return files[Int(number)].wasEmpty
  }

  /// Notes that nothing of others is at an output. Returns whether this is new.
  @discardableResult
  mutating func noteEmpty(_ path: FilePath) -> Bool {
    let number = Int(number(of: path))
    defer { files[number].wasEmpty = true }
    return !files[number].wasEmpty
  }

  /// Whether a step has made a file that is not one of these.
  func hasRecord(notAt paths: Set<FilePath>) -> Bool {
    files.contains { $0.record != nil && !paths.contains($0.path) }
  }

  /// The valid records, the oldest first, each with those of its outputs that no later record has.
  var livingRecords: [(record: StepRecord, outputs: [Int32])] {
    var outputs: [Int32: [Int32]] = [:]
    for (number, file) in files.enumerated() {
      if let record = file.record { outputs[record, default: []].append(Int32(number)) }
    }
    for record in recordsByName.values { outputs[record] = [] }
    return outputs.sorted { $0.key < $1.key }.compactMap { record, outputs in
      records[Int(record)].map { ($0, outputs) }
    }
  }
}
