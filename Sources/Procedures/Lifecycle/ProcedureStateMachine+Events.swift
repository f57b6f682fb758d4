/// Events of a procedure, the caller's duty after each, and the next step of the turn.
extension ProcedureStateMachine {
  enum Step: Sendable, Equatable {
    /// Nothing to do now. The turn was given up.
    case idle
    /// The turn is kept, and goes on when pending events are released.
    case waitForPendingEvents
    /// An event comes: its override is called, then observers, then the queue's delegate. For didAttach there are new
    /// observers; after willAdd a procedure is added, and didAdd follows.
    case event(ProcedureEvents)
    /// Have a dependency that has finished hand over what it made.
    case handOver
    case evaluateConditions
    /// Find out which children there are, to announce them to the group's observers.
    case announceChildren
    case execute
    /// Let the group end once its children have.
    case settleChildren
    /// Let the group say which of the errors it takes over.
    case askGroup
    /// The turn is kept, and goes on when the group has said so.
    case waitForGroup
    /// Hear children that are about to finish.
    case hearChildren
    /// Tell dependents and leave the queue. The turn was given up.
    case retire
  }

  /// An event of a procedure, on whatever thread.
  enum Event: Sendable {
    case enqueue(waits: Int)
    case dependencyAdded
    /// A dependency has finished, or was removed.
    case dependencyDone
    case conditionAdded
    /// A condition was added that needs no evaluating, and changes what it asks for with its slot.
    case exclusionAdded
    /// What was added is known to it: it goes on if nothing else is missing.
    case goOn
    /// A worker has time to evaluate its conditions.
    case evaluate(attempt: UInt32)
    /// The holder of the turn evaluates whatever is to be evaluated now.
    case beginEvaluating
    /// A condition has answered that was asked asynchronously.
    case conditionAnswered
    /// The next condition brings so many procedures that must finish before it is evaluated.
    case conditionBrings(Int)
    case conditionsSatisfied
    /// A worker has taken it, with a slot. It may have to wait again since.
    case start(attempt: UInt32)
    /// First part of a cancel: the flags.
    case mark(hasErrors: Bool = false)
    /// Second part: from here on the turn may deliver it.
    case deliver
    /// - Parameter isByItself: whether it is the end of a ready-made procedure's closure.
    case finish(hasErrors: Bool = false, isByItself: Bool = false)
    /// A group's last child has finished.
    case childrenFinished(hasErrors: Bool = false)
    /// An observer wants didAttach, or an event that it missed.
    case observerAdded
    /// There is something to add. A group that is not on a queue yet announces it when it executes.
    case produced
    /// A dependency has finished that has something to hand over.
    case handOver
    /// A child asks to be heard.
    case childAsks
    /// It is in a group, which decides about its errors before it has finished.
    case joinGroup
    /// The group has decided while it was asked.
    case heardAtOnce
    /// The group has decided, since it was asked.
    case heard
    /// An observer keeps an event back.
    case hold(HoldableEvent)
    /// The observer releases it.
    case release(HoldableEvent)
    /// The turn is wanted for one piece of user code: not if it is held, or a cancel is due first.
    case takeTurn
    case giveBackTurn
  }

  /// The duty of the caller that posted an event.
  enum Effect: Sendable, Equatable {
    /// Nothing: it is noted, or it changes nothing.
    case none
    /// The turn is now held for the caller, who must have it run.
    case turn
    /// It has come so far, of which its list must be told.
    case ready(Readiness)
    /// It had come further, and must wait again, of which its list must be told.
    case wait
    /// It is too late for that.
    case late
    /// The wrong moment for that.
    case refused

    /// Whether a mark, or a finish, has effect.
    var isAccepted: Bool { self != .late && self != .refused }

    /// How far it has come.
    var readiness: Readiness {
      if case .ready(let readiness) = self { readiness } else { .waiting }
    }
  }
}
