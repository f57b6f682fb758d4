internal import ProcedurePrimitives

/// Supervises the procedures of one queue: it receives refusals and waits, and reports those for
/// which the user has set a handler. The base class, for procedures on no queue, receives nothing.
///
/// Called with no lock held, except for `queueName`, which acquires no lock of a procedure or of a
/// list.
class QueueSupervisor: @unchecked Sendable {
  /// Whether any queue of the process ever wanted reports of cancelled procedures. If not, nothing
  /// is looked up.
  static let wantsCancels = AtomicByte(0)
  /// Whether any queue ever had a handler, for all other reports.
  static let wantsReports = AtomicByte(0)

  /// Whether it wants to know of lists in which members wait that no worker can help.
  final let stuckNote: StuckNote
  private final let looksAreWanted = AtomicByte(0)
  /// The weak reference to it that all its finished procedures share: a weak reference of each
  /// procedure would cost eight atomic operations.
  final let reference = Reference()

  init(stuckNote: StuckNote = StuckNote(isUsed: false)) {
    self.stuckNote = stuckNote
    reference.supervisor = self
  }

  final class Reference: @unchecked Sendable {
    /// Set once, before any other code sees it.
    fileprivate(set) weak var supervisor: QueueSupervisor?
  }

  /// Whether it wants to know of members that may have begun to wait. One atomic load.
  final var wantsLooks: Bool {
    @inline(__always) get {
      #if MODEL
        // A look depends on the clock, which the explorer does not have.
        return false
      #else
        return looksAreWanted.load() != 0
      #endif
    }
    set { looksAreWanted.store(newValue ? 1 : 0) }
  }

  // Subclasses override these.

  var queueName: String { "" }

  /// - Returns: whether there is a handler, which was called.
  @discardableResult
  func report(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) -> Bool { false }

  /// Reports that a queue or group has refused a procedure.
  func reportRefusal(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) {}

  /// Test doubles for external resources, for the procedures of the queue.
  var standIns: [any StandIn] { [] }

  /// A member of `list` may have begun a wait that is reported if it lasts.
  func noteWait(in list: ProcedureList) {}

  /// Members of `list` wait, and no worker can help them: the wait is ended if it would last
  /// forever.
  func noteStuck(_ list: ProcedureList) {}
}

extension Procedure {
  /// The supervisor of its queue.
  final var supervisor: QueueSupervisor? { peek { $0.list }?.context.supervisor }

  /// It was cancelled, perhaps while its `execute()` is on the stack and does not return.
  final func noteCancel() {
    guard QueueSupervisor.wantsCancels.load() != 0, let list = peek({ $0.list }) else { return }
    list.context.supervisor.noteWait(in: list)
  }
}

extension ProcedureDiagnostic {
  /// Reports it to the handler; if there is none, to standard error.
  func reportAloud(to supervisor: QueueSupervisor?) {
    if supervisor?.report(self) != true { writeToStandardError() }
  }

  func writeToStandardError() { StandardError.write("Procedures: \(self)\n") }
}
