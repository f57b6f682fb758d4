import Dispatch
internal import ProcedurePrimitives

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The output of one step: cut into lines and shown, kept for the end of the step, and written to
/// its log.
///
/// Pieces come one at a time; any thread may read the last lines.
final class StepOutput: Sendable {
  /// The most output that is kept to be shown in one block, in bytes.
  private static let largestBlock = 4 << 20

  private let name: Name
  private let display: Display
  /// Whether the output is shown when the step has ended.
  private let isGrouped: Bool
  private let log: StepLog?
  private let hidesSecrets: Bool
  private let state: Locked<State>

  private struct State {
    var secrets: SecretFilter
    var lines = OutputLines()
    var block: [OutputLines.Line] = []
    var blockSize = 0

    mutating func insert(_ line: String) -> [OutputLines.Line] {
      // It uses a filter of its own, since the step may be in the middle of a line.
      var filter = secrets.anew
      return lines.insert(filter.take("\(line)\n".utf8) + filter.end())
    }
  }

  init(of name: Name, display: Display, secrets: Secrets, isGrouped: Bool, log: StepLog?) {
    hidesSecrets = !secrets.isEmpty
    state = Locked(State(secrets: SecretFilter(secrets)))
    self.name = name
    self.display = display
    self.isGrouped = isGrouped
    self.log = log
  }

  /// Blocks until there is room for more, so that a step is not faster than the reader of its
  /// output.
  func append(_ data: Data) {
    let data = hidesSecrets ? Data(state.withLock { $0.secrets.take(data) }) : data
    log?.append(data)
    let shown = state.withLock { take($0.lines.append(data), &$0) }
    guard !shown.isEmpty else { return }
    let room = DispatchSemaphore(value: 0)
    display.print(shown, of: name) { room.signal() }
    room.wait()
  }

  /// Adds a line that the step did not write; never blocks.
  func append(line: String) {
    let shown = state.withLock { state in
      let lines = state.insert(line)
      return take(lines, &state)
    }
    if !shown.isEmpty { display.print(shown, of: name) {} }
  }

  /// Shows a warning immediately, even if output is shown later or not at all; never blocks.
  func complain(_ line: String) {
    display.print(state.withLock { $0.insert(line) }, of: name, isComplaint: true) {}
  }

  /// Shows an unfinished line when a program has ended and another one may write; never blocks.
  func endLine() {
    let shown = takeRest()
    log?.endLine()
    if !shown.isEmpty { display.print(shown, of: name) {} }
  }

  /// Shows the rest; `completion` is called when there is room for more.
  func end(_ completion: @escaping @Sendable () -> Void) {
    let rest = takeRest()
    log?.close()
    let shown = state.withLock { state in
      defer { state.block = [] }
      return rest + state.block
    }
    display.print(shown, of: name, completion)
  }

  /// Takes what was kept back until a line or a secret is complete; returns the lines to show now.
  private func takeRest() -> [OutputLines.Line] {
    let rest = hidesSecrets ? Data(state.withLock { $0.secrets.end() }) : Data()
    if !rest.isEmpty { log?.append(rest) }
    return state.withLock { take($0.lines.append(rest) + $0.lines.end(), &$0) }
  }

  var last: [String] { state.withLock { $0.lines.last } }

  /// Keeps the lines if output is grouped; returns the lines to show now.
  private func take(
    _ new: [OutputLines.Line], _ state: inout State
  ) -> [OutputLines.Line] {
    guard isGrouped else { return new }
    state.block += new
    state.blockSize += new.reduce(0) { $0 + $1.count }
    guard state.blockSize > Self.largestBlock else { return [] }
    defer { (state.block, state.blockSize) = ([], 0) }
    return state.block
  }
}
