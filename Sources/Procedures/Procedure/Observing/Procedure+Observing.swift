internal import Dispatch

extension Procedure {
  /// Adds an observer, at any time. Observers are called in the order in which they were added.
  ///
  /// One that is added late is called, in a turn, for a cancel or finish that already happened. It is not called for an
  /// execution that has begun; the time of a `TimeoutObserver` begins when it is added then.
  /// Observers are released when the procedure has finished.
  ///
  /// - Returns: what takes it off again. May be dropped.
  @discardableResult
  public final func add<Observer: ProcedureObserver>(
    observer: Observer
  ) -> ObserverRegistration {
    let registration = add(ProcedureObserverEntry(observer, at: ObserverPlace(observer.eventQueue)))
    // Too late for willExecute: its time begins here, and not in the next turn, which may come after `execute()`. Should
    // it have been in time after all, the time that began with the event is over first.
    if state >= .started, !isFinished, let late = observer as? any BeginsWithStart {
      late.start(for: self)
    }
    return registration
  }

  /// Adds an observer that decides itself where it is called.
  package final func addStaged(_ observer: some ProcedureObserver & ObserverStage) {
    _ = add(ProcedureObserverEntry(observer, at: .stage(observer)))
  }

  /// Adds an entry. A closure's entry has the type of this procedure as its parameter.
  @usableFromInline
  final func add(_ entry: consuming ObserverEntry) -> ObserverRegistration {
    note { core in
      let wasMissed = core.life.mustReplay
      core.observers.append(entry)
      if !wasMissed, !entry.events.contains(.didAttach) {
        entry.isAttached = true
        return .none
      }
      return core.life.post(.observerAdded)
    }
    return ObserverRegistration(entry: entry)
  }
}

/// An observer's place on a procedure. Dropping it does nothing: the observer stays.
public struct ObserverRegistration: Sendable {
  let entry: ObserverEntry

  /// Takes the observer off the procedure, which releases it: nothing is delivered from here on.
  ///
  /// A callback that is running on another thread is not waited for.
  ///
  /// - Returns: true if this took it off; false if it was taken off before, or the procedure has
  ///   finished.
  @discardableResult
  public func remove() -> Bool { entry.remove() }
}
