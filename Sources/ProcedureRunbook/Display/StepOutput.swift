import Dispatch
internal import ProcedurePrimitives

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The output of one step: cut into lines and shown, and kept for its end and in its log.
///
/// Pieces come one at a time; the last lines may be asked for from anywhere.
final class StepOutput: Sendable {
  /// How much output is kept to be shown in one piece, at most.
  private static let largestBlock = 4 << 20

  private let name: Name
  private let display: Display
  /// Whether it is shown when the step has ended.
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
      // A filter of its own: the step may be in the middle of a line.
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

  /// Returns when there is room for more: a step is not faster than the reader of its output.
  func append(_ data: Data) {
    let data = hidesSecrets ? Data(state.withLock { $0.secrets.take(data) }) : data
    log?.append(data)
    let shown = state.withLock { take($0.lines.append(data), &$0) }
    guard !shown.isEmpty else { return }
    let room = DispatchSemaphore(value: 0)
    display.print(shown, of: name) { room.signal() }
    room.wait()
  }

  /// Adds a line that is not the step's own; waits for nothing.
  func append(line: String) {
    let shown = state.withLock { state in
      let lines = state.insert(line)
      return take(lines, &state)
    }
    if !shown.isEmpty { display.print(shown, of: name) {} }
  }

  /// The same of a warning: it is shown at once, also where output is shown later or not at all.
  func complain(_ line: String) {
    display.print(state.withLock { $0.insert(line) }, of: name, isComplaint: true) {}
  }

  /// Shows what is left; `completion` is called when there is room for more.
  func end(_ completion: @escaping @Sendable () -> Void) {
    let rest = hidesSecrets ? Data(state.withLock { $0.secrets.end() }) : Data()
    if !rest.isEmpty { log?.append(rest) }
    log?.close()
    let shown = state.withLock { state in
      let shown = take(state.lines.append(rest) + state.lines.end(), &state) + state.block
      state.block = []
      return shown
    }
    display.print(shown, of: name, completion)
  }

  /// The last lines.
  var last: [String] { state.withLock { $0.lines.last } }

  /// What of these lines is to be shown now.
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
