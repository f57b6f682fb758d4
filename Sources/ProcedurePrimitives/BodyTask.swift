/// A call in which a task waits.
public protocol BodyWait: Sendable {
  /// The function, as it is written.
  var name: String { get }
  /// Another one for each call.
  var serial: UInt64 { get }
  /// The object behind the token that is waited for; nil if it is no token.
  var token: ObjectIdentifier? { get }
  /// Whether the task stands in line. Not before it does, nor since it was taken out of the line: then the task goes on as
  /// soon as it has a thread. No lock is acquired in there but the innermost.
  var isWaiting: Bool { get }
}

/// The task of a procedure's body, or of a condition, and the calls in which it waits.
///
/// A task notes its waits under its own number, if it prefers an executor: those of procedures do. A task that such a
/// task awaits in a call of this library *stands in* for it, and notes its waits there. Child tasks, and a `Task { }` of
/// the user's, are not known: what goes on beside them may end their waits.
public struct BodyTask: Sendable {
  /// A wait of the task, or of one that stands in for it.
  public struct Entry: Sendable {
    /// The call.
    public let wait: any BodyWait
    /// The object behind the token that may end the call; nil if there is none.
    public let endedBy: ObjectIdentifier?
  }

  private struct Table: Sendable {
    var entries: [Int: [Entry]] = [:]
    var standIns: [Int: BodyTask] = [:]
    var lastSerial: UInt64 = 0
  }

  private static let table = Locked(Table())
  /// Whether there ever was a stand-in: usually there is none, and a task without an executor needs no search.
  private static let hadStandIns = AtomicByte(0)

  private let number: Int
  /// The object behind the token that may end the waits of the caller; nil if there is none.
  private let endedBy: ObjectIdentifier?

  private init(number: Int, endedBy: ObjectIdentifier? = nil) {
    (self.number, self.endedBy) = (number, endedBy)
  }

  /// The place of that task.
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

  /// That of the calling task; nil if nobody looks for its waits.
  public static var current: Self? {
    unsafe withUnsafeCurrentTask { task in
      guard let task = unsafe task else { return nil }
      let number = unsafe task.hashValue
      if unsafe task.unownedTaskExecutor != nil { return Self(number: number) }
      return hadStandIns.load() == 0 ? nil : table.withLock { $0.standIns[number] }
    }
  }

  /// The calls in which it waits, in the order in which they began.
  public var entries: [Entry] { Self.table.withLock { $0.entries[number] ?? [] } }

  fileprivate func begin(_ wait: some BodyWait) -> Scope {
    let entry = Entry(wait: wait, endedBy: endedBy)
    Self.table.withLock { $0.entries[number, default: []].append(entry) }
    return Scope(body: self, serial: wait.serial)
  }

  /// A call of the task that has begun.
  public struct Scope: Sendable {
    fileprivate let body: BodyTask
    fileprivate let serial: UInt64

    /// The call is about to return.
    public func end() {
      BodyTask.table.withLock { [number = body.number] table in
        table.entries[number]?.removeAll { $0.wait.serial == serial }
        if table.entries[number]?.isEmpty == true { table.entries[number] = nil }
      }
    }
  }

  /// The task awaits `other`, which has not begun: the waits of that one are this one's.
  ///
  /// - Parameter token: the object behind the token that may cancel `other`; nil if there is none.
  public func await<Success, Failure>(
    _ other: Task<Success, Failure>, endedBy token: ObjectIdentifier?
  ) {
    addStandIn(other.hashValue, endedBy: token)
  }

  /// The calling task, which has begun, stands in for `body` until it calls `endStandingIn()`.
  ///
  /// - Parameters:
  ///   - body: the task that awaits the calling one; nil if nobody looks for its waits.
  ///   - token: the object behind the token that may end the waits of the calling task; nil if there is none.
  public static func beginStandingIn(for body: BodyTask?, endedBy token: ObjectIdentifier?) {
    guard let body else { return }
    unsafe withUnsafeCurrentTask { task in
      if let number = unsafe task?.hashValue { body.addStandIn(number, endedBy: token) }
    }
  }

  /// - Parameter number: that of the task which stands in for this one.
  private func addStandIn(_ number: Int, endedBy token: ObjectIdentifier?) {
    Self.hadStandIns.store(1)
    let standIn = Self(number: self.number, endedBy: endedBy ?? token)
    Self.table.withLock { $0.standIns[number] = standIn }
  }

  /// The calling task has ended, and stands in for no other.
  public static func endStandingIn() {
    guard hadStandIns.load() != 0 else { return }
    unsafe withUnsafeCurrentTask { task in
      guard let number = unsafe task?.hashValue else { return }
      _ = table.withLock { $0.standIns.removeValue(forKey: number) }
    }
  }
}

extension BodyTask? {
  /// The task is about to wait in a call.
  ///
  /// - Parameter wait: made only if the task is one whose waits are looked for.
  /// - Returns: the call, to be ended; nil if nobody looks.
  public func begin(_ wait: @autoclosure () -> some BodyWait) -> BodyTask.Scope? {
    map { $0.begin(wait()) }
  }
}
