import Foundation

/// The output of one step: cut into lines and shown, and kept for its end and in its log.
///
/// Pieces come one at a time; the last lines may be asked for from anywhere.
final class StepOutput: @unchecked Sendable {
  /// What is kept to be shown in one piece, at most.
  private static let largestBlock = 4 << 20

  private let name: String
  private let display: Display
  /// Whether it is shown when the step has ended.
  private let isGrouped: Bool
  private let log: StepLog?
  private let lock = NSLock()
  private var lines = OutputLines()
  private var block: [String] = []
  private var blockSize = 0

  init(of name: String, display: Display, isGrouped: Bool, log: StepLog?) {
    self.name = name
    self.display = display
    self.isGrouped = isGrouped
    self.log = log
  }

  /// Returns when there is room for more: a step is not faster than the reader of its output.
  func append(_ data: Data) {
    log?.append(data)
    let shown = lock.withLock { take(lines.append(data)) }
    guard !shown.isEmpty else { return }
    let room = DispatchSemaphore(value: 0)
    display.print(shown, of: name) { room.signal() }
    room.wait()
  }

  /// Shows what is left; `completion` is called when there is room for more.
  func end(_ completion: @escaping @Sendable () -> Void) {
    log?.close()
    let shown = lock.withLock {
      let shown = take(lines.end()) + block
      block = []
      return shown
    }
    display.print(shown, of: name, completion)
  }

  /// The last lines.
  var last: [String] { lock.withLock { lines.last } }

  /// What of these lines is to be shown now.
  private func take(_ new: [String]) -> [String] {
    guard isGrouped else { return new }
    block += new
    blockSize += new.reduce(0) { $0 + $1.utf8.count }
    guard blockSize > Self.largestBlock else { return [] }
    defer { (block, blockSize) = ([], 0) }
    return block
  }
}
