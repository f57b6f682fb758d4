/// A call in which a task waits.
public protocol BodyWait: Sendable {
  /// The function, as source code writes it.
  var name: String { get }
  /// A number of this call alone.
  var serial: UInt64 { get }
  /// The identity of the awaited token; nil if the call does not wait for a token.
  var token: ObjectIdentifier? { get }
  /// Whether the call waits for a token that a deadline cancels, if nothing else does before. Called
  /// with no lock held.
  var hasDeadline: Bool { get }
  /// Whether the task waits in a list. False before it is entered and after it is removed: then the
  /// task goes on as soon as it has a thread. An implementation may acquire only an innermost lock.
  var isWaiting: Bool { get }
}

/// The task of a procedure's body, or of a condition, and the calls in which it waits.
///
/// A task that prefers an executor, as the tasks of procedures do, records its waits under its own
/// number. A task that it awaits in a call of this library *stands in* for it, and records its
/// waits there. Other child tasks and a user's `Task { }` are not recorded: concurrent work may end
/// their waits.
public struct BodyTask: Sendable {
  /// A wait of the task, or of a stand-in.
  public struct Entry: Sendable {
    /// The call.
    public let wait: any BodyWait
    /// The identity of the token that may end the call; nil if there is none.
    public let endedBy: ObjectIdentifier?
    fileprivate let awaiting: Awaiting?
  }

  /// A call in which a body awaits a task that stands in for it.
  ///
  /// After its end that task may go on: its waits are no longer those of the body, whose number may
  /// by then be another task's.
  fileprivate final class Awaiting: Sendable {
    private let outer: Awaiting?
    private let hasEnded = AtomicByte(0)

    init(in outer: Awaiting?) { self.outer = outer }

    var isOver: Bool { hasEnded.load() != 0 || outer?.isOver == true }

    func end() { hasEnded.store(1) }
  }

  private struct Table: Sendable {
    var entries: [Int: [Entry]] = [:]
    var standIns: [Int: BodyTask] = [:]
    var lastSerial: UInt64 = 0
  }

  private static let table = Locked(Table())
  /// Whether there ever was a stand-in. Usually there was none, and no task needs a search.
  private static let hadStandIns = AtomicByte(0)

  private let number: Int
  /// The identity of the token that may end the caller's waits; nil if there is none.
  private let endedBy: ObjectIdentifier?
  /// nil unless the call may return before the task that stands in.
  private let awaiting: Awaiting?

  private init(number: Int, endedBy: ObjectIdentifier? = nil, awaiting: Awaiting? = nil) {
    (self.number, self.endedBy, self.awaiting) = (number, endedBy, awaiting)
  }

  /// The record of `task`.
  public init<Success, Failure>(_ task: Task<Success, Failure>) {
    self.init(number: task.hashValue)
  }

  /// A number for a call, which no other call of the process has.
  public static func nextSerial() -> UInt64 {
    table.withLock { table in
      table.lastSerial += 1
      return table.lastSerial
    }
  }

  /// The record of the calling task; nil if its waits are not recorded.
  public static var current: Self? {
    unsafe withUnsafeCurrentTask { task in
      guard let task = unsafe task else { return nil }
      let number = unsafe task.hashValue
      // A child task that stands in prefers the executor of its parent.
      if hadStandIns.load() != 0, let other = table.withLock({ $0.standIns[number] }) {
        return other
      }
      return unsafe task.unownedTaskExecutor != nil ? Self(number: number) : nil
    }
  }

  /// The calls in which the task waits, in the order in which they began.
  public var entries: [Entry] {
    Self.table.withLock { $0.entries[number] ?? [] }.filter { $0.awaiting?.isOver != true }
  }

  fileprivate func begin(_ wait: some BodyWait) -> Scope? {
    if awaiting?.isOver == true { return nil }
    let entry = Entry(wait: wait, endedBy: endedBy, awaiting: awaiting)
    Self.table.withLock { $0.entries[number, default: []].append(entry) }
    return Scope(body: self, serial: wait.serial)
  }

  /// A call that the task has begun.
  public struct Scope: Sendable {
    fileprivate let body: BodyTask
    fileprivate let serial: UInt64

    /// Removes the call, which is about to return.
    public func end() {
      BodyTask.table.withLock { [number = body.number] table in
        table.entries[number]?.removeAll { $0.wait.serial == serial }
        if table.entries[number]?.isEmpty == true { table.entries[number] = nil }
      }
    }
  }

  /// Records that the task awaits `other`, which has not begun: the waits of `other` count as its
  /// own.
  ///
  /// - Parameter token: the identity of the token that may cancel `other`; nil if there is none.
  public func await<Success, Failure>(
    _ other: Task<Success, Failure>, endedBy token: ObjectIdentifier?
  ) {
    addStandIn(other.hashValue, endedBy: token)
  }

  /// The body in a call that may return before the task that stands in for it in that call.
  public func inCallOfItsOwn() -> Self {
    Self(number: number, endedBy: endedBy, awaiting: Awaiting(in: awaiting))
  }

  /// Ends the call of `inCallOfItsOwn()`: from now on the task that stands in does so no longer.
  public func endCall() { awaiting?.end() }

  /// Makes the calling task, which has begun, stand in for `body` until it calls `endStandingIn()`.
  ///
  /// - Parameters:
  ///   - body: the task that awaits the calling one; nil if its waits are not recorded.
  ///   - token: the identity of the token that may end the calling task's waits; nil if there is
  ///     none.
  public static func beginStandingIn(for body: BodyTask?, endedBy token: ObjectIdentifier?) {
    guard let body else { return }
    unsafe withUnsafeCurrentTask { task in
      if let number = unsafe task?.hashValue { body.addStandIn(number, endedBy: token) }
    }
  }

  /// - Parameter number: the number of the task that stands in for this one.
  private func addStandIn(_ number: Int, endedBy token: ObjectIdentifier?) {
    Self.hadStandIns.store(1)
    let standIn = Self(number: self.number, endedBy: endedBy ?? token, awaiting: awaiting)
    Self.table.withLock { $0.standIns[number] = standIn }
  }

  /// Ends the calling task's standing in.
  public static func endStandingIn() {
    guard hadStandIns.load() != 0 else { return }
    unsafe withUnsafeCurrentTask { task in
      guard let number = unsafe task?.hashValue else { return }
      _ = table.withLock { $0.standIns.removeValue(forKey: number) }
    }
  }
}

extension BodyTask? {
  /// Records that the task is about to wait in a call.
  ///
  /// - Parameter wait: evaluated only if the task's waits are recorded.
  /// - Returns: the call, which the caller must end; nil if it is not recorded.
  public func begin(_ wait: @autoclosure () -> some BodyWait) -> BodyTask.Scope? {
    flatMap { $0.begin(wait()) }
  }
}
