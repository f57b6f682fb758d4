internal import ProcedurePrimitives

/// Looks after the procedures of one queue: it receives refusals and waits, and reports those which the
/// user asked for. This one, of procedures on no queue, receives nothing.
///
/// Called with no lock held, except for `queueName`, which acquires none of a procedure or of a list.
class QueueSupervisor: @unchecked Sendable {
  /// The reference to it that does not own it.
  final let reference = SupervisorReference()
  /// Whether it is to be told of lists in which members wait that no worker can help.
  final let stuckNote: StuckNote
  /// Whether it is to be told of members that may have begun to wait.
  final let lookNote: LookNote

  init(stuckNote: StuckNote = StuckNote(isUsed: false), lookNote: LookNote = LookNote()) {
    self.stuckNote = stuckNote
    self.lookNote = lookNote
    reference.supervisor = self
  }

  // To override.

  var queueName: String { "" }

  /// - Returns: whether there is a handler, which was called.
  @discardableResult
  func report(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) -> Bool { false }

  /// Reports that a queue or group has refused a procedure.
  func reportRefusal(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) {}

  /// What stands for something outside of the program, for the procedures of the queue: fakes of a test.
  var standIns: [any StandIn] { [] }

  // Waits that are reported if they last.

  /// A member of that list may have begun to wait.
  func noteWait(in list: ProcedureList) {}

  // Waits that are ended if they would last forever.

  /// Members of that list wait, and no worker can help them.
  func noteStuck(_ list: ProcedureList) {}
}

/// The part of the queue that a finished procedure keeps.
final class SupervisorReference: @unchecked Sendable {
  /// Set once, before anything else sees it.
  fileprivate(set) weak var supervisor: QueueSupervisor?
}

/// The kinds of reports that any queue of the process ever wanted: without any, nothing is looked up.
enum Supervision {
  /// Reports of cancelled procedures that have not finished.
  static let wantsCancels = AtomicByte(0)
  /// All other reports: whether any queue has ever had a handler.
  static let wantsReports = AtomicByte(0)
}

extension Procedure {
  /// That of its queue.
  final var supervisor: QueueSupervisor? { read { $0.list }?.context.supervisor }

  /// It was cancelled, perhaps while its `execute()` is on the stack and stays there.
  final func noteCancel() {
    guard Supervision.wantsCancels.load() != 0, let list = read({ $0.list }) else { return }
    list.context.supervisor.noteWait(in: list)
  }
}

extension QueueSupervisor? {
  /// Reports to the handler; if there is none, to standard error.
  func reportAloud(_ diagnostic: ProcedureDiagnostic) {
    if self?.report(diagnostic) != true { StandardError.write("Procedures: \(diagnostic)\n") }
  }
}
