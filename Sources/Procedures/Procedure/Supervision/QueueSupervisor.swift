internal import ProcedurePrimitives

/// What looks after the procedures of one queue: it hears what is refused and what waits, and reports what the
/// user wants to hear of. This one, of procedures on no queue, hears of nothing.
///
/// Called with no lock held, except for `queueName`, which acquires none of a procedure or of a list.
class QueueSupervisor: @unchecked Sendable {
  /// What refers to it without owning it.
  final let reference = SupervisorReference()
  /// Whether it is to be told of lists in which members wait that no worker can help.
  final let stuckNote: StuckNote

  init(stuckNote: StuckNote = StuckNote(isUsed: false)) {
    self.stuckNote = stuckNote
    reference.supervisor = self
  }

  // To override.

  var queueName: String { "" }
  /// Whether there is a handler, and it hears of waits that last.
  var hearsOfWaits: Bool { false }

  /// - Returns: whether there is a handler, which was called.
  @discardableResult
  func report(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) -> Bool { false }

  /// Reports that a queue or group has refused a procedure.
  func reportRefusal(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) {}

  // What is reported if it goes on for too long.

  /// It was cancelled, and has not finished.
  func noteCancel(of procedure: Procedure) {}
  /// An observer holds one of its events back.
  func noteHold(of procedure: Procedure) {}
  /// An observer is called on the main actor, or on a queue.
  func noteCall(_ call: ObserverCall, of procedure: Procedure) {}
  /// A condition is awaited.
  func noteQuestion(_ condition: String, _ serial: UInt64, of procedure: Procedure) {}

  /// It waits for a procedure that is on no queue.
  func noteMissingDependency(of procedure: Procedure) {}

  // What is ended if it would go on for ever.

  /// Members of that list wait, and no worker can help them.
  func noteStuck(_ list: ReadyList) {}
}

/// What a procedure that has finished keeps of its queue.
final class SupervisorReference: @unchecked Sendable {
  /// Set once, before anything else sees it.
  fileprivate(set) weak var supervisor: QueueSupervisor?
}

/// What any queue of the process has ever wanted to hear of: where none did, nothing is looked up.
enum Supervision {
  /// Of cancelled procedures that have not finished.
  static let wantsCancels = AtomicByte(0)
  /// Of anything else: whether any queue has ever had a handler.
  static let wantsReports = AtomicByte(0)
}

extension Procedure {
  /// That of its queue.
  final var supervisor: QueueSupervisor? { read { $0.home }?.context.supervisor }

  final func noteCancel() {
    if Supervision.wantsCancels.load() != 0 { supervisor?.noteCancel(of: self) }
  }

  final func noteCall(_ call: @autoclosure () -> ObserverCall) {
    if Supervision.wantsReports.load() != 0 { supervisor?.noteCall(call(), of: self) }
  }
}
