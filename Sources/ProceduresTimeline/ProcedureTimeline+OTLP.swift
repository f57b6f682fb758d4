internal import Procedures

extension ProcedureTimeline.Snapshot {
  /// Returns the procedures as OpenTelemetry spans: the bodies of requests to a collector, as JSON.
  ///
  /// ```swift
  /// for request in timeline.snapshot().otlpRequests(service: "shop") {
  ///   try await post(request, to: "http://localhost:4318/v1/traces")  // as application/json
  /// }
  /// ```
  ///
  /// Each request is one line, so that requests joined by `"\n"` form a file that a collector
  /// reads. None exceeds 4 MiB, which every collector accepts, unless one span has more than 1 MiB
  /// of names and errors. O(n).
  ///
  /// ## Traces
  /// A procedure that was added to a recorded queue begins a trace, and all procedures below it are
  /// spans of that trace: one trace for the whole queue would never end. The children of a recorded
  /// group are one trace. With `traceparent` all spans are in the caller's trace, below the
  /// caller's span.
  ///
  /// Ids are random for each timeline, and the same in all its snapshots. Ids in virtual time
  /// depend only on the entry's number.
  ///
  /// ## Spans
  /// A span begins when the procedure was enqueued, and ends when it has finished, or with the
  /// snapshot. Its events are its waits, its start, a cancel and its errors; its links are its
  /// dependencies. Its status is an error if the procedure failed, or if an error or a deadline
  /// cancelled it. Times are of the wall clock; virtual times begin with the year 2000.
  ///
  /// - Parameters:
  ///   - service: the name of the program, `service.name`.
  ///   - traceparent: the header of the request that the procedures are part of, in the format of
  ///     W3C Trace Context. An invalid one is ignored, as that standard requires.
  ///   - earlier: a snapshot of the same timeline. The result has only procedures that have
  ///     finished since, so that exporting every minute sends each one once. Nil for all, including
  ///     unfinished ones.
  /// - Returns: as many requests as needed; none if there are no spans.
  public func otlpRequests(
    service: String, traceparent: String? = nil, since earlier: ProcedureTimeline.Snapshot? = nil
  ) -> [String] {
    var writer = SpanWriter(self, service, in: traceparent.flatMap(IncomingTrace.init))
    for entry in entries {
      if let earlier {
        guard entry.times.finished != nil, earlier.entry(entry.id)?.times.finished == nil else {
          continue
        }
      }
      writer.write(entry)
    }
    return writer.finish()
  }
}

private struct SpanWriter {
  private enum Value {
    case text(String)
    case number(Int)
  }

  private let snapshot: ProcedureTimeline.Snapshot
  private let service: String
  private let incoming: IncomingTrace?
  private let epoch: Int64
  private let traces: [Int: String]
  private var json = JSONWriter()
  private var requests: [String] = []

  /// A large span fits between this and the 4 MiB that every collector accepts.
  private static let fullSize = 3 << 20

  init(
    _ snapshot: ProcedureTimeline.Snapshot, _ service: String, in incoming: IncomingTrace?
  ) {
    self.snapshot = snapshot
    self.service = service
    self.incoming = incoming
    let year2000: Int64 = 946_684_800_000_000_000
    epoch = snapshot.epoch ?? Self.sum(year2000, -snapshot.start)
    traces = incoming == nil ? Self.traces(of: snapshot) : [:]
  }

  /// Returns the trace of each entry: it begins with its outermost group, or the recorded group.
  private static func traces(of snapshot: ProcedureTimeline.Snapshot) -> [Int: String] {
    var traces: [Int: String] = [:]
    // A group is enqueued before its children.
    for entry in snapshot.entries {
      traces[entry.id] =
        if snapshot.rootsAreGroups[entry.root] {
          snapshot.identity.trace(ofRoot: entry.root)
        } else if let parent = entry.parent {
          traces[parent] ?? snapshot.identity.trace(ofEntry: parent)
        } else {
          snapshot.identity.trace(ofEntry: entry.id)
        }
    }
    return traces
  }

  // MARK: Requests

  mutating func write(_ entry: ProcedureTimeline.Entry) {
    if json.text.isEmpty { begin() } else { json.raw(",") }
    writeSpan(of: entry)
    if json.text.utf8.count >= Self.fullSize { end() }
  }

  mutating func finish() -> [String] {
    if !json.text.isEmpty { end() }
    return requests
  }

  private mutating func begin() {
    json.raw("{\"resourceSpans\":[{\"resource\":{")
    write([("service.name", .text(service))])
    json.raw("},\"scopeSpans\":[{\"scope\":{\"name\":\"ProceduresTimeline\"},\"spans\":[")
  }

  private mutating func end() {
    json.raw("]}]}]}")
    requests.append(json.text)
    json = JSONWriter()
  }

  // MARK: Spans

  private mutating func writeSpan(of entry: ProcedureTimeline.Entry) {
    let times = entry.times
    json.raw("{")
    json.member("traceId", trace(of: entry.id))
    json.member("spanId", snapshot.identity.span(entry.id))
    if let parent = entry.parent.map(snapshot.identity.span) ?? incoming?.span {
      json.member("parentSpanId", parent)
    }
    json.raw("\"flags\":\(incoming?.flags ?? 1),")
    json.member("name", entry.name)
    // The value of SpanKind for internal spans.
    json.raw("\"kind\":1,")
    json.member("startTimeUnixNano", instant(times.enqueued))
    json.member("endTimeUnixNano", instant(times.finished ?? snapshot.end))
    write(attributes(of: entry))
    json.raw(",\"events\":[")
    writeEvents(of: entry)
    json.raw("],\"links\":[")
    writeLinks(of: entry)
    json.raw("],\"status\":{")
    if let message = entry.failure {
      json.member("message", message)
      // The value of StatusCode for an error.
      json.raw("\"code\":2")
    }
    json.raw("}}")
  }

  private func trace(of entry: Int) -> String {
    incoming?.trace ?? traces[entry] ?? snapshot.identity.trace(ofEntry: entry)
  }

  private func attributes(of entry: ProcedureTimeline.Entry) -> [(String, Value)] {
    var attributes: [(String, Value)] = [
      ("procedure.id", .number(entry.id)), ("procedure.type", .text(entry.type)),
      ("procedure.kind", .text(entry.isGroup ? "group" : "procedure")),
      ("procedure.queue", .text(snapshot.rootNames[entry.root])),
      ("procedure.priority", .text("\(entry.priority)")),
      ("procedure.outcome", .text(entry.outcomeText)),
      ("procedure.waited_ns", .number(Int(entry.waited.nanoseconds))),
      ("procedure.ran_ns", .number(Int(entry.run(until: snapshot.end)))),
    ]
    for (key, time) in entry.body?.parts ?? [] {
      attributes.append(("procedure.\(key)_ns", .number(Int(time))))
    }
    if entry.ranOnSpareThread { attributes.append(("procedure.thread", .text("spare"))) }
    return attributes
  }

  private mutating func writeLinks(of entry: ProcedureTimeline.Entry) {
    var isFirst = true
    for dependency in entry.dependencies where snapshot.places[dependency] != nil {
      json.raw(isFirst ? "{" : ",{")
      isFirst = false
      json.member("traceId", trace(of: dependency))
      json.member("spanId", snapshot.identity.span(dependency))
      write([("procedure.link", .text("dependency"))])
      json.raw("}")
    }
  }

  // MARK: Events

  private typealias Event = (time: Int64, name: String, attributes: [(String, Value)])

  private mutating func writeEvents(of entry: ProcedureTimeline.Entry) {
    let times = entry.times
    var events = entry.stretches.map { event(of: $0, in: entry) }
    if let started = times.started { events.append((started, "started", [])) }
    if let cancelled = times.cancelled {
      events.append((cancelled, "cancelled", [("procedure.reason", .text(entry.reasonText))]))
    }
    for error in entry.errors {
      // The names follow OpenTelemetry's conventions.
      let attributes: [(String, Value)] = [
        ("exception.type", .text("\(type(of: error))")), ("exception.message", .text("\(error)")),
      ]
      events.append(
        (times.finished ?? times.cancelled ?? snapshot.end, "exception", attributes))
    }
    // Events of the same time keep the order above.
    let order = events.indices.sorted { (events[$0].time, $0) < (events[$1].time, $1) }
    for (index, place) in order.enumerated() {
      json.raw(index == 0 ? "{" : ",{")
      json.member("timeUnixNano", instant(events[place].time))
      json.member("name", events[place].name)
      write(events[place].attributes)
      json.raw("}")
    }
  }

  private func event(
    of wait: ProcedureTimeline.Wait, in entry: ProcedureTimeline.Entry
  ) -> Event {
    var attributes: [(String, Value)] = [
      ("procedure.wait.cause", .text(wait.cause.rawValue)),
      ("procedure.wait.duration_ns", .number(Int(wait.nanoseconds))),
      ("procedure.wait.text", .text(snapshot.text(of: wait, of: entry))),
    ]
    func add(_ key: String, _ value: Value?) {
      if let value { attributes.append(("procedure.wait." + key, value)) }
    }
    add("blocker", wait.blocker.map(Value.text))
    add("blocker_id", wait.blockerID.map(Value.number))
    add("category", wait.category.map(Value.text))
    add("limit", wait.limit.map(Value.number))
    add("interval_ns", (wait.interval?.nanoseconds).map { .number(Int($0)) })
    add("group_cause", (wait.groupCause?.rawValue).map(Value.text))
    return (wait.from, "wait: \(wait.cause.label)", attributes)
  }

  // MARK: Values

  private mutating func write(_ attributes: [(String, Value)]) {
    json.raw("\"attributes\":[")
    for (index, (key, value)) in attributes.enumerated() {
      json.raw(index == 0 ? "{" : ",{")
      json.member("key", key)
      json.raw("\"value\":{")
      switch value {
      case .text(let text): json.member("stringValue", text, isLast: true)
      // Protocol Buffers write a 64-bit number as a string in JSON.
      case .number(let number): json.member("intValue", String(number), isLast: true)
      }
      json.raw("}}")
    }
    json.raw("]")
  }

  private func instant(_ time: Int64) -> String { String(max(Self.sum(epoch, time), 0)) }

  /// The sum saturates, since a virtual clock may be centuries ahead.
  private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
    let (sum, isTooLarge) = left.addingReportingOverflow(right)
    return isTooLarge ? (left < 0 ? .min : .max) : sum
  }
}

extension ProcedureTimeline.Entry {
  /// The text of the error that ended it, if it failed, or an error or a deadline cancelled it.
  fileprivate var failure: String? {
    switch outcome {
    case .failed: return errors.first.map { "\($0)" } ?? "failed"
    case .cancelled, nil:
      switch cancelReason {
      case .deadlineExceeded, .failure: return reasonText
      case .requested, .taskCancelled, .signal, nil: return nil
      }
    case .succeeded: return nil
    }
  }
}
