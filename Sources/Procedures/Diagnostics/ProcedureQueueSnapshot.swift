internal import ProcedurePrimitives

/// The unfinished procedures of a queue at one moment, each with its state and its waits.
///
/// ```swift
/// print(queue.snapshot())
/// // 'uploads' (3 unfinished)
/// //   'fetch' executing
/// //   'resize' pending: it waits for 'fetch'
/// //   'report' pending: it waits for 'disk', held by 'fetch'
/// ```
///
/// Print it, or paste `mermaid` into a document. A snapshot reads one procedure after another while
/// others go on, so two of its lines may be some microseconds apart, and one that ends meanwhile is
/// shown as finished.
public struct ProcedureQueueSnapshot: Sendable, CustomStringConvertible {
  /// One unfinished procedure.
  public struct Entry: Identifiable, Sendable {
    /// Those of the whole snapshot. An entry is a place among them: nested values would be released
    /// by recursion, and groups may be nested thousands deep.
    fileprivate let records: [Record]
    fileprivate let place: Int

    fileprivate var record: Record { records[place] }

    /// Identifies the entry among those of one snapshot.
    public var id: Int { record.id }
    /// The procedure's name.
    public var name: String { record.name }
    /// Its state.
    public var state: ProcedureState { record.state }
    /// Whether it was cancelled.
    public var isCancelled: Bool { record.isCancelled }
    /// The cause of its wait, as a sentence; nil if it executes, or is about to act.
    public var obstacle: String? { record.obstacle }
    /// The entries that must finish first. If the procedure waits for a slot, or for a category
    /// with several places, only some of them must.
    public var waitsFor: [Int] { record.waitsFor }
    /// Its unfinished children, if it is a group.
    public var children: [Entry] { record.children.map { Entry(records: records, place: $0) } }
  }

  fileprivate struct Record: Sendable {
    let id: Int
    let name: String
    let state: ProcedureState
    let isCancelled: Bool
    let obstacle: String?
    let waitsFor: [Int]
    var children: [Int] = []
  }

  /// The description of the queue.
  public let queue: String

  /// The queue's unfinished procedures, in the order in which they were added.
  public let entries: [Entry]

  /// The procedures on other queues, or on none, for which the queue's procedures wait.
  public let others: [Entry]

  /// One line for each procedure, with children indented below their group.
  ///
  /// Line breaks and control characters in names are shown escaped, such as `\n`. Below the
  /// sixteenth level the indentation stays the same, and the line begins with its level.
  public var description: String {
    var lines = [queue]
    func add(_ entry: Entry) {
      entry.walk { entry, depth in lines.append(entry.line(at: depth)) }
    }
    entries.forEach(add)
    if !others.isEmpty { lines.append("elsewhere") }
    others.forEach(add)
    return lines.joined(separator: "\n")
  }

  /// A Mermaid flowchart, with an arrow from each procedure to each one for which it waits.
  public var mermaid: String {
    var lines = ["flowchart LR"]
    for entry in entries + others {
      entry.walk(
        { entry, depth in lines.append(entry.node(at: depth)) },
        afterChildren: { _, depth in lines.append(Entry.indentation(of: depth) + "end") })
    }
    for entry in entries + others { entry.walk { entry, _ in lines += entry.arrows } }
    return lines.joined(separator: "\n")
  }
}

extension ProcedureQueueSnapshot.Entry {
  /// Calls `body` with the entry and all of its descendants, each before its children.
  ///
  /// Iterative: groups may be nested thousands deep.
  ///
  /// - Parameter end: called for each entry that has children, after its descendants.
  fileprivate func walk(
    _ body: (Self, _ depth: Int) -> Void,
    afterChildren end: (Self, _ depth: Int) -> Void = { _, _ in }
  ) {
    var unvisited: [(entry: Self, depth: Int, isEnd: Bool)] = [(self, 1, false)]
    while let (entry, depth, isEnd) = unvisited.popLast() {
      if isEnd {
        end(entry, depth)
        continue
      }
      body(entry, depth)
      let children = entry.children
      if !children.isEmpty { unvisited.append((entry, depth, true)) }
      for child in children.reversed() { unvisited.append((child, depth + 1, false)) }
    }
  }

  /// The indentation stops at sixteen levels; otherwise the text would grow with the square of the
  /// depth.
  fileprivate static func indentation(of depth: Int) -> String {
    String(repeating: "  ", count: min(depth, 16))
  }

  fileprivate func line(at depth: Int) -> String {
    var line = Self.indentation(of: depth)
    if depth > 16 { line += "[\(depth)] " }
    line += "'\(name.onOneLine)' \(state)"
    if isCancelled { line += ", cancelled" }
    if let obstacle { line += ": " + obstacle }
    return line
  }

  private var label: String {
    "\(name.mermaidLabel)<br/>\(state)\(isCancelled ? ", cancelled" : "")"
  }

  /// The line of the entry: with children, the opening line of a subgraph.
  fileprivate func node(at depth: Int) -> String {
    let kind = record.children.isEmpty ? "" : "subgraph "
    return "\(Self.indentation(of: depth))\(kind)p\(id)[\"\(label)\"]"
  }

  fileprivate var arrows: [String] {
    let own = Set(children.map(\.id))
    return waitsFor.filter { !own.contains($0) }.map { "  p\(id) --> p\($0)" }
  }
}

// MARK: Taking

extension Procedure {
  /// A snapshot of the procedures of its queue, or of this procedure alone if it is on none.
  package final func snapshotOfSurroundings() -> ProcedureQueueSnapshot {
    let neighbours = peek { $0.list }?.outermost.procedures ?? []
    return ProcedureQueueSnapshot(
      of: neighbours.isEmpty ? [self] : neighbours, on: "around '\(name.onOneLine)'")
  }
}

extension ProcedureQueueSnapshot {
  init(of procedures: [Procedure], on queue: String) {
    var taking = SnapshotTaking()
    let entries = procedures.map { taking.describe($0) }
    let others = taking.describeOthers()
    func entry(at place: Int) -> Entry { Entry(records: taking.records, place: place) }
    self.init(queue: queue, entries: entries.map(entry), others: others.map(entry))
  }
}

/// Numbers the procedures that a snapshot meets.
private struct SnapshotTaking {
  private var ids: [ObjectIdentifier: Int] = [:]
  private var met: [Procedure] = []
  private var described: Set<Int> = []
  private(set) var records: [ProcedureQueueSnapshot.Record] = []
  private var reading = WaitReading()
  /// The numbers of the holders for which several wait, who share them.
  private var idsOfHolders: [ObjectIdentifier: (SharedHolders, [Int])] = [:]

  private mutating func id(of procedure: Procedure) -> Int {
    if let id = ids[ObjectIdentifier(procedure)] { return id }
    met.append(procedure)
    ids[ObjectIdentifier(procedure)] = met.count
    return met.count
  }

  /// Describes the procedures of other queues for which described ones wait, without their
  /// children.
  ///
  /// - Returns: their indices in `records`.
  mutating func describeOthers() -> [Int] {
    let first = records.count
    var id = 1
    while id <= met.count {
      // Describing one may append further procedures to `met`.
      if !described.contains(id) { records.append(record(of: met[id - 1])) }
      id += 1
    }
    return Array(first..<records.count)
  }

  /// Describes a procedure and its descendants, in the order in which they are printed.
  ///
  /// Iterative: groups may be nested thousands deep.
  ///
  /// - Returns: its index in `records`.
  mutating func describe(_ root: Procedure) -> Int {
    let first = records.count
    var undescribed: [(procedure: Procedure, parent: Int?)] = [(root, nil)]
    while let (procedure, parent) = undescribed.popLast() {
      if let parent { records[parent].children.append(records.count) }
      let place = records.count
      records.append(record(of: procedure))
      for child in (procedure.childList?.procedures ?? []).reversed() {
        undescribed.append((child, place))
      }
    }
    return first
  }

  private mutating func record(of procedure: Procedure) -> ProcedureQueueSnapshot.Record {
    let id = id(of: procedure)
    described.insert(id)
    let wait = procedure.numberedWait(in: &reading).wait
    return ProcedureQueueSnapshot.Record(
      id: id, name: procedure.name, state: procedure.state, isCancelled: procedure.isCancelled,
      obstacle: wait.summary?.onOneLine, waitsFor: idsOfAwaited(by: wait))
  }

  private mutating func idsOfAwaited(by wait: Wait) -> [Int] {
    guard let holders = wait.onlyHolders else { return wait.awaited.map { id(of: $0) } }
    if let (_, known) = idsOfHolders[ObjectIdentifier(holders)] { return known }
    let ids = holders.procedures.map { id(of: $0) }
    idsOfHolders[ObjectIdentifier(holders)] = (holders, ids)
    return ids
  }
}
