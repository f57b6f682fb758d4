/// What each unfinished procedure of a queue did, or waited for, at one moment.
///
/// ```swift
/// print(queue.snapshot())
/// // 'uploads' (3 unfinished)
/// //   'fetch' executing
/// //   'resize' pending: it waits for 'fetch'
/// //   'report' pending: it waits for 'disk', held by 'fetch'
/// ```
///
/// Print it, or paste `mermaid` into a document. The procedures are asked one after another while
/// others go on, so that two lines may be some microseconds apart.
public struct ProcedureQueueSnapshot: Sendable, CustomStringConvertible {
  /// One unfinished procedure.
  public struct Entry: Sendable {
    /// Tells entries of one snapshot apart.
    public let id: Int
    /// The procedure's name.
    public let name: String
    /// Its state.
    public let state: ProcedureState
    /// Whether it was cancelled.
    public let isCancelled: Bool
    /// What it waits for, as a sentence; nil if it executes, or is about to do something.
    public let obstacle: String?
    /// The entries that must finish first; of a procedure that waits for a slot, one of them.
    public let waitsFor: [Int]
    /// Its unfinished children, if it is a group.
    public let children: [Entry]
  }

  /// The queue's description.
  public let queue: String

  /// The procedures on it that have not finished, in the order in which they were added.
  public let entries: [Entry]

  /// What procedures on other queues, or on none, are waited for.
  public let others: [Entry]

  /// One line for each procedure, children indented below their group.
  public var description: String {
    var lines = [queue]
    for entry in entries { entry.append(to: &lines, indent: "  ") }
    if !others.isEmpty {
      lines.append("elsewhere")
      for entry in others { entry.append(to: &lines, indent: "  ") }
    }
    return lines.joined(separator: "\n")
  }

  /// A Mermaid flowchart: an arrow leads from each procedure to what it waits for.
  public var mermaid: String {
    var lines = ["flowchart LR"]
    for entry in entries + others { entry.appendNodes(to: &lines, indent: "  ") }
    for entry in entries + others { entry.appendArrows(to: &lines) }
    return lines.joined(separator: "\n")
  }
}

extension ProcedureQueueSnapshot.Entry {
  fileprivate func append(to lines: inout [String], indent: String) {
    var line = "\(indent)'\(name)' \(state)"
    if isCancelled { line += ", cancelled" }
    if let obstacle { line += ": " + obstacle }
    lines.append(line)
    for child in children { child.append(to: &lines, indent: indent + "  ") }
  }

  private var label: String {
    let text = isCancelled ? "\(name)\n\(state), cancelled" : "\(name)\n\(state)"
    let escapes: [Character: String] = [
      "\"": "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "\n": "<br/>",
    ]
    return text.map { escapes[$0] ?? String($0) }.joined()
  }

  fileprivate func appendNodes(to lines: inout [String], indent: String) {
    guard !children.isEmpty else {
      lines.append("\(indent)p\(id)[\"\(label)\"]")
      return
    }
    lines.append("\(indent)subgraph p\(id)[\"\(label)\"]")
    for child in children { child.appendNodes(to: &lines, indent: indent + "  ") }
    lines.append("\(indent)end")
  }

  fileprivate func appendArrows(to lines: inout [String]) {
    let own = Set(children.map(\.id))
    for other in waitsFor where !own.contains(other) { lines.append("  p\(id) --> p\(other)") }
    for child in children { child.appendArrows(to: &lines) }
  }
}
