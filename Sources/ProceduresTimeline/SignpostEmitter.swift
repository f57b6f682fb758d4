internal import ProcedurePrimitives
internal import Procedures

/// The receiver of signposts: Instruments, or a test.
protocol SignpostSink: Sendable {
  /// Whether signposts are recorded.
  var isEnabled: Bool { get }

  /// Returns a unique number for a procedure, which pairs the ends with the begins.
  func makeNumber() -> UInt64

  func begin(_ interval: SignpostInterval, _ number: UInt64, _ message: String)
  func end(_ interval: SignpostInterval, _ number: UInt64, _ message: String)
  func emitCancel(_ number: UInt64, _ message: String)
}

enum SignpostInterval: Sendable {
  /// The time from the add until it starts, or finishes without a start.
  case wait
  /// The time from the start until it has finished.
  case run
}

/// Finds the procedures of a queue, at any depth, and emits the signposts of each.
///
/// The queue and the groups on it retain it. It retains no procedure.
final class SignpostEmitter: Sendable {
  private let sink: any SignpostSink
  /// The known unfinished procedures, since a child may be found more than once.
  private let unfinished = Locked(Set<ObjectIdentifier>())

  init(_ sink: any SignpostSink) {
    self.sink = sink
  }

  func emit(for queue: ProcedureQueue) {
    let name = queue.name
    queue.record { [self] procedure in
      if sink.isEnabled { meet([procedure], in: name) }
    }
  }

  private func meet(_ procedures: [Procedure], in place: String) {
    // It uses a stack instead of recursion, since groups may be nested thousands deep.
    var unmet = [(procedures, place)]
    while let (procedures, place) = unmet.popLast() {
      for procedure in procedures where isNew(procedure) {
        procedure.add(observer: SignpostObserver(of: procedure, in: place, to: sink, for: self))
        guard let group = procedure as? GroupProcedure else { continue }
        let name = group.name
        group.recordChildren { [self] child in
          if sink.isEnabled { meet([child], in: name) }
        }
        unmet.append((group.children, name))
      }
    }
  }

  /// Called when a group starts: a child that another thread was adding may have been missed.
  fileprivate func lookAgain(in group: GroupProcedure) {
    meet(group.children, in: group.name)
  }

  private func isNew(_ procedure: Procedure) -> Bool {
    let id = ObjectIdentifier(procedure)
    guard unfinished.withLock({ $0.insert(id).inserted }) else { return false }
    // The insert comes before this check: the procedure may have been found before, and have
    // finished meanwhile.
    guard procedure.isFinished else { return true }
    forget(procedure)
    return false
  }

  fileprivate func forget(_ procedure: Procedure) {
    _ = unfinished.withLock { $0.remove(ObjectIdentifier(procedure)) }
  }
}

/// Emits the signposts of one procedure, which releases it when it has finished.
private final class SignpostObserver: ProcedureObserver, @unchecked Sendable {
  let events: ProcedureEvents = [.willExecute, .didCancel, .didFinish]

  private let sink: any SignpostSink
  private let emitter: SignpostEmitter
  private let number: UInt64
  private let message: String
  /// The interval that has begun. Only turns access it.
  private var interval = SignpostInterval.wait

  init(
    of procedure: Procedure, in place: String, to sink: any SignpostSink,
    for emitter: SignpostEmitter
  ) {
    self.sink = sink
    self.emitter = emitter
    number = sink.makeNumber()
    let (name, type) = (procedure.name, typeName(type(of: procedure)))
    message = "'\(name)'\(name == type ? "" : " (\(type))") in '\(place)'"
    sink.begin(.wait, number, message)
  }

  func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    sink.end(.wait, number, "started")
    interval = .run
    sink.begin(.run, number, message)
    if let group = procedure as? GroupProcedure { emitter.lookAgain(in: group) }
  }

  func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    sink.emitCancel(number, message)
  }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    sink.end(interval, number, Self.text(of: procedure.outcome ?? .succeeded))
    emitter.forget(procedure)
  }

  /// Errors are named by their types, since their texts are the user's code and may be private.
  private static func text(of outcome: ProcedureOutcome) -> String {
    let end = outcome.isSuccess ? "succeeded" : outcome.isCancelled ? "cancelled" : "failed"
    if outcome.errors.isEmpty { return end }
    return "\(end): " + outcome.errors.map { typeName(type(of: $0)) }.joined(separator: ", ")
  }
}
