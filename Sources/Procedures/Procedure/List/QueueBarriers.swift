internal import ProcedurePrimitives

/// The barriers of one queue, and the procedures that wait for them.
///
/// A barrier begins a *phase*: the barrier, and the procedures that are added until the next one.
/// Phases open in order. Procedures in an open phase run; others are held back by one wait in
/// addition to their dependencies.
///
/// | event                      | effect                                                          |
/// |----------------------------|-----------------------------------------------------------------|
/// | a barrier is added         | begins a phase, which is not open                               |
/// | another procedure is added | joins the last phase; held back unless that is open             |
/// | the last in open ones ends | the barrier of the first phase that is not open is let run      |
/// | that barrier ends          | its phase opens, and so do those behind it whose barriers ended |
///
/// A barrier that is cancelled ends before it was let run: its phase then opens with the previous
/// one. Each event is O(1) for each procedure that it concerns.
///
/// Invariants:
/// 1. This lock comes after a procedure's lock and before the lock of the list. Procedures are
///    released when no lock is held.
/// 2. Each member that was there at the first barrier, or was added since, has one ticket.
final class QueueBarriers: Sendable {
  /// Guarded by the lock of its `QueueBarriers`.
  final class BarrierPhase: @unchecked Sendable {
    fileprivate let barrier: Procedure
    /// The previous phase, until it opens and is released.
    fileprivate weak var previous: BarrierPhase?
    fileprivate var isBarrierDone = false
    fileprivate var isBarrierReleased = false
    fileprivate var isOpen = false
    /// The procedures that are held back, in the order of adding. Nil for a finished one.
    fileprivate var held: [Procedure?] = []
    fileprivate var unfinished = 0

    fileprivate init(_ barrier: Procedure, after previous: BarrierPhase?) {
      self.barrier = barrier
      self.previous = previous
    }
  }

  /// The place of one procedure. Given back exactly once, when it has finished.
  struct Ticket: Sendable {
    fileprivate let barriers: QueueBarriers
    /// Nil for a procedure that no barrier held back when it was added.
    fileprivate let phase: BarrierPhase?
    /// Its index among the held procedures; nil for the barrier.
    fileprivate let index: Int?

    func finished() {
      barriers.finish(self)
    }
  }

  /// The work that remains when no lock is held.
  fileprivate struct Opening: Sendable {
    /// Procedures that are no longer held back.
    var released: [Procedure] = []
    /// References that may be the last to a barrier.
    var opened: [BarrierPhase] = []

    func carryOut() {
      for procedure in released { procedure.dependencyFinished() }
    }
  }

  fileprivate struct State: Sendable {
    /// Whether there ever was a barrier.
    var isUsed = false
    /// The number of unfinished procedures in open phases.
    var openCount = 0
    /// The phases that are not open.
    var closed = Fifo<BarrierPhase>()
    var last: BarrierPhase?
  }

  private let state = Locked(State())

  /// There will be a barrier: from now on `list` holds added procedures back until they have a
  /// ticket.
  func begin(in list: ProcedureList) {
    // 1. The members of this moment are counted before any of them can give its ticket back.
    let members: [Procedure] = state.withLock { state in
      guard !state.isUsed else { return [] }
      state.isUsed = true
      let members = list.holdAdditions()
      state.openCount = members.count
      return members
    }
    // 2. Hand out the tickets without a lock: each needs the lock of its procedure.
    for member in members { hand(Ticket(barriers: self, phase: nil, index: nil), to: member) }
  }

  /// A procedure was added, and is held back.
  func admit(_ procedure: Procedure, isBarrier: Bool) {
    let (ticket, opening): (Ticket, Opening) = state.withLock { state in
      // 1. A barrier begins a phase. It is let run at once if nothing unfinished is before it.
      if isBarrier {
        let phase = BarrierPhase(procedure, after: state.last)
        state.closed.append(phase)
        state.last = phase
        return (Ticket(barriers: self, phase: phase, index: nil), state.openUp())
      }
      // 2. In an open phase nothing holds it back.
      guard let phase = state.last, !phase.isOpen else {
        state.openCount += 1
        return (
          Ticket(barriers: self, phase: nil, index: nil), Opening(released: [procedure])
        )
      }
      // 3. Otherwise it waits until its phase opens.
      phase.held.append(procedure)
      phase.unfinished += 1
      return (Ticket(barriers: self, phase: phase, index: phase.held.count - 1), Opening())
    }
    // 4. It has its ticket before it may start, so that its finish gives the ticket back.
    hand(ticket, to: procedure)
    opening.carryOut()
  }

  /// Admits a procedure that another member needs: it is not held back, but barriers wait for it.
  func admitUnheldIfUsed(_ procedure: Procedure) {
    let isUsed = state.withLock { state in
      if state.isUsed { state.openCount += 1 }
      return state.isUsed
    }
    guard isUsed else { return }
    hand(Ticket(barriers: self, phase: nil, index: nil), to: procedure)
  }

  private func hand(_ ticket: Ticket, to procedure: Procedure) {
    if !procedure.addFinishWaiter(.barrier(ticket)) { ticket.finished() }
  }

  fileprivate func finish(_ ticket: Ticket) {
    let opening = state.withLock { state in
      // 1. The owner is a barrier; or was held back, and cancelled; or belongs to an open phase.
      if let phase = ticket.phase, ticket.index == nil {
        phase.isBarrierDone = true
      } else if let phase = ticket.phase, let index = ticket.index, !phase.isOpen {
        phase.held[index] = nil
        phase.unfinished -= 1
      } else {
        state.openCount -= 1
      }
      // 2. That may be the last one that a phase has waited for.
      return state.openUp()
    }
    opening.carryOut()
  }

  /// The procedures that must finish before the owner of `ticket` goes on; empty if it is not held
  /// back.
  ///
  /// O(1) for a procedure behind a barrier. O(count) for a barrier, and for procedures behind a
  /// cancelled barrier.
  ///
  /// - Parameters:
  ///   - list: the list of the queue.
  ///   - seen: receives references that the caller releases after the locks.
  func awaited(
    with ticket: Ticket, in list: ProcedureList, seeing seen: inout [Procedure]
  ) -> [Procedure] {
    state.withLock { state in
      // 1. Nothing holds back a member of an open phase, nor a barrier that was let run. Others of
      //    its phase wait for the barrier alone, while it is unfinished.
      guard let phase = ticket.phase, !phase.isOpen else { return [] }
      if ticket.index == nil {
        if phase.isBarrierReleased { return [] }
      } else if !phase.isBarrierDone {
        return [phase.barrier]
      }
      // 2. Otherwise it waits for the phases before its own, back to the latest unfinished barrier,
      //    which stands for everything before it.
      var awaited: [Procedure] = []
      var next = phase.previous
      while let earlier = next {
        awaited = earlier.held.compactMap(\.self) + awaited
        if !earlier.isBarrierDone { return [earlier.barrier] + awaited }
        next = earlier.previous
      }
      // 3. All these barriers have ended: it also waits for the procedures of open phases, which
      //    are the members that stand in no closed one.
      var closed = Set<Procedure>()
      for phase in state.closed.elements {
        closed.insert(phase.barrier)
        closed.formUnion(phase.held.compactMap(\.self))
      }
      seen = list.procedures
      return seen.filter { !closed.contains($0) && !$0.isFinished } + awaited
    }
  }
}

extension QueueBarriers.State {
  /// Opens each phase that can open.
  fileprivate mutating func openUp() -> QueueBarriers.Opening {
    var opening = QueueBarriers.Opening()
    while let next = closed.first {
      // 1. The barrier of the first closed phase runs when nothing before it is unfinished.
      guard next.isBarrierDone else {
        if openCount == 0, !next.isBarrierReleased {
          next.isBarrierReleased = true
          opening.released.append(next.barrier)
        }
        break
      }
      // 2. It has ended: its phase opens, and the members that it held back count as before the
      //    next barrier.
      _ = closed.popFirst()
      next.isOpen = true
      closed.first?.previous = nil
      openCount += next.unfinished
      // 3. The caller lets them go, and drops the reference to the barrier, without the lock.
      opening.released += next.held.compactMap(\.self)
      opening.opened.append(next)
      next.held = []
      if last === next { last = nil }
    }
    return opening
  }
}
