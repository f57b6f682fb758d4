internal import Procedures

extension ProcedureTimeline.Snapshot {
  /// Returns a trace in Chrome's event format, as JSON, for Perfetto, chrome://tracing and
  /// DevTools.
  ///
  /// Each recorded queue or group is a process, each lane a thread, each started procedure a slice.
  /// Children in the lane of their group are nested in its slice. Dependencies are flow arrows
  /// between the starts of two slices. A cancel is an instant event with its reason. Counters show
  /// how many procedures run, and how many are ready. The arguments of a slice have its priority,
  /// and its waits in numbers.
  ///
  /// Times are in microseconds since the first procedure was enqueued. `otherData` has the
  /// wall-clock time of that, unless times are virtual: `startTime` in ISO 8601, and
  /// `startTimeUnixNano`.
  public func chromeTrace() -> String {
    var writer = TraceWriter(self)
    return writer.trace()
  }
}

private struct TraceWriter {
  private let snapshot: ProcedureTimeline.Snapshot
  private var json = JSONWriter()
  private var isFirst = true

  init(_ snapshot: ProcedureTimeline.Snapshot) {
    self.snapshot = snapshot
  }

  mutating func trace() -> String {
    json.raw("{\"traceEvents\":[")
    writeNames()
    for entry in snapshot.entries where entry.lane != nil { writeSlice(of: entry) }
    for entry in snapshot.entries { writeFlows(to: entry) }
    for entry in snapshot.entries where entry.times.cancelled != nil { writeCancel(of: entry) }
    writeCounters()
    json.raw("\n],\"displayTimeUnit\":\"ms\",\"otherData\":{")
    if let epoch = snapshot.epoch, !snapshot.entries.isEmpty {
      json.member("startTime", WallClock.text(epoch + snapshot.start))
      json.member("startTimeUnixNano", String(epoch + snapshot.start))
    }
    json.member("droppedProcedures", String(snapshot.droppedCount), isLast: true)
    json.raw("}}\n")
    return json.text
  }

  private func microseconds(_ nanoseconds: Int64) -> String {
    NumberText.decimal(nanoseconds, per: 1_000, digits: 3)
  }

  /// Writes the fields of every event. The caller writes the arguments.
  private mutating func begin(
    _ phase: String, _ name: String, category: String, at time: Int64, process: Int, thread: Int
  ) {
    json.raw(isFirst ? "\n{" : ",\n{")
    isFirst = false
    json.member("name", name)
    json.member("cat", category)
    json.member("ph", phase)
    json.raw("\"ts\":\(microseconds(time - snapshot.start)),\"pid\":\(process),\"tid\":\(thread),")
  }

  private mutating func writeNames() {
    var threads: [[Int]] = snapshot.rootNames.map { _ in [] }
    var seen = Set<[Int]>()
    for entry in snapshot.entries {
      guard let lane = entry.lane, seen.insert([entry.root, lane]).inserted else { continue }
      threads[entry.root].append(lane)
    }
    for (root, name) in snapshot.rootNames.enumerated() {
      writeName("process_name", name, process: root + 1, thread: 0)
      for lane in threads[root].sorted() {
        writeName("thread_name", "lane \(lane + 1)", process: root + 1, thread: lane + 1)
        begin(
          "M", "thread_sort_index", category: "__metadata", at: snapshot.start, process: root + 1,
          thread: lane + 1)
        json.raw("\"args\":{\"sort_index\":\(lane)}}")
      }
    }
  }

  private mutating func writeName(_ kind: String, _ name: String, process: Int, thread: Int) {
    begin(
      "M", kind, category: "__metadata", at: snapshot.start, process: process, thread: thread)
    json.raw("\"args\":{")
    json.member("name", name, isLast: true)
    json.raw("}}")
  }

  /// All slices have the same category: DevTools binds a flow to slices of its own category, and a
  /// group may depend on a procedure.
  private let category = "procedure"

  private mutating func writeSlice(of entry: ProcedureTimeline.Entry) {
    guard let lane = entry.lane, let started = entry.times.started else { return }
    begin(
      "X", entry.name, category: category, at: started, process: entry.root + 1,
      thread: lane + 1)
    json.raw("\"dur\":\(microseconds(entry.run(until: snapshot.end))),\"args\":{")
    writeArguments(of: entry)
    json.raw("}}")
  }

  private mutating func writeArguments(of entry: ProcedureTimeline.Entry) {
    json.raw("\"id\":\(entry.id),")
    json.member("kind", entry.isGroup ? "group" : "procedure")
    json.member("type", entry.type)
    json.member("priority", "\(entry.priority)")
    json.member("outcome", entry.outcomeText)
    if entry.ranOnSpareThread { json.member("thread", "spare") }
    for (key, time) in entry.body?.parts ?? [] {
      json.raw("\"\(key)_ms\":\(milliseconds(time)),")
    }
    json.raw("\"waited\":{")
    for (index, wait) in entry.waits.enumerated() {
      // Several conditions or held events get a key each.
      let isFirst = entry.waits[..<index].allSatisfy { $0.cause != wait.cause }
      let key = isFirst ? wait.cause.label : "\(wait.cause.label) \(index + 1)"
      json.member(key, snapshot.text(of: wait, of: entry), isLast: index == entry.waits.count - 1)
    }
    json.raw("}")
    writeWaitTimes(of: entry)
    if !entry.errors.isEmpty {
      json.raw(",\"errors\":[")
      for (index, error) in entry.errors.enumerated() {
        if index > 0 { json.raw(",") }
        json.string("\(error)")
      }
      json.raw("]")
    }
  }

  private func milliseconds(_ nanoseconds: Int64) -> String {
    NumberText.decimal(nanoseconds, per: 1_000_000, digits: 6)
  }

  /// Writes the time that it waited for each cause, in milliseconds: a query in Perfetto reads
  /// `args.waited_ms.slot`. Then it writes each single wait, with its begin in the time of the
  /// trace.
  private mutating func writeWaitTimes(of entry: ProcedureTimeline.Entry) {
    let causes = ProcedureTimeline.WaitCause.allCases
    let times = causes.map { ($0, entry.nanosecondsWaited(for: $0)) }.filter { $0.1 != 0 }
    json.raw(",\"waited_ms\":{")
    for (index, (cause, time)) in times.enumerated() {
      json.raw("\(index == 0 ? "" : ",")\"\(cause.rawValue)\":\(milliseconds(time))")
    }
    json.raw("},\"waits\":[")
    for (index, wait) in entry.stretches.enumerated() {
      json.raw(index == 0 ? "{" : ",{")
      json.member("cause", wait.cause.rawValue)
      if let blocker = wait.blocker { json.member("blocker", blocker) }
      if let id = wait.blockerID { json.raw("\"blocker_id\":\(id),") }
      if let category = wait.category { json.member("category", category) }
      if let limit = wait.limit { json.raw("\"limit\":\(limit),") }
      if let interval = wait.interval {
        json.raw("\"interval_ms\":\(milliseconds(interval.nanoseconds)),")
      }
      if let cause = wait.groupCause { json.member("group_cause", cause.rawValue) }
      json.raw("\"at_ms\":\(milliseconds(wait.from - snapshot.start)),")
      json.raw("\"ms\":\(milliseconds(wait.nanoseconds))}")
    }
    json.raw("]")
  }

  /// DevTools binds a flow to the slice of the same category, process, thread and time, so both
  /// ends are at the starts of their slices. `bp: e` tells Perfetto the same.
  private mutating func writeFlows(to entry: ProcedureTimeline.Entry) {
    guard entry.lane != nil else { return }
    for dependency in entry.dependencies {
      guard let source = snapshot.entry(dependency), source.lane != nil else { continue }
      // Events with the same id, category and name are one flow.
      let name = "dependency \(source.id) → \(entry.id)"
      writeFlow("s", source, name, source.id, entry.id)
      writeFlow("f", entry, name, source.id, entry.id)
    }
  }

  private mutating func writeFlow(
    _ phase: String, _ entry: ProcedureTimeline.Entry, _ name: String, _ from: Int, _ to: Int
  ) {
    guard let lane = entry.lane, let started = entry.times.started else { return }
    begin(
      phase, name, category: category, at: started, process: entry.root + 1,
      thread: lane + 1)
    // The second number has eight digits, so that each pair of numbers is unique.
    let second = NumberText.padded(String(to, radix: 16), to: 8)
    json.raw("\"id\":\"0x\(String(from, radix: 16))\(second)\",\"bp\":\"e\",\"args\":{}}")
  }

  private mutating func writeCancel(of entry: ProcedureTimeline.Entry) {
    guard let cancelled = entry.times.cancelled else { return }
    begin(
      "i", "cancel \(entry.name)", category: "cancel", at: cancelled, process: entry.root + 1,
      thread: (entry.lane ?? -1) + 1)
    json.raw("\"s\":\"\(entry.lane == nil ? "p" : "t")\",\"args\":{")
    json.member("reason", entry.reasonText)
    // A procedure that has not started has no slice with these arguments.
    if entry.lane == nil { writeArguments(of: entry) } else { json.raw("\"id\":\(entry.id)") }
    json.raw("}}")
  }

  private mutating func writeCounters() {
    for use in snapshot.slotUse {
      let time = snapshot.start + use.time.nanoseconds
      begin("C", "slots in use", category: "slots", at: time, process: 1, thread: 0)
      json.raw("\"args\":{\"running\":\(use.running)}}")
      begin("C", "ready", category: "slots", at: time, process: 1, thread: 0)
      json.raw("\"args\":{\"ready\":\(use.ready)}}")
    }
  }
}

extension ProcedureTimeline.Body {
  /// The parts in nanoseconds.
  var parts: [(key: String, time: Int64)] {
    [
      ("busy", busy.nanoseconds), ("scheduled", scheduled.nanoseconds), ("idle", idle.nanoseconds),
    ]
  }
}

extension ProcedureTimeline.Entry {
  /// The outcome, or the state of an unfinished procedure.
  var outcomeText: String {
    switch outcome {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    case nil: times.started == nil ? "waiting" : "running"
    }
  }

  /// The reason of its cancel; empty if it was not cancelled.
  var reasonText: String {
    switch cancelReason {
    case .failure(let error): "\(error)"
    case let reason?: "\(reason)"
    case nil: ""
    }
  }
}
