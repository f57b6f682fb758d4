internal import Dispatch

extension Procedure {
  /// Adds an observer, at any time. Observers are called in the order in which they were added.
  ///
  /// An observer that is added late is called, in a turn, for a cancel or finish that has already
  /// happened. It is not called for an execution that has begun; a `TimeoutObserver` then counts
  /// its time from the moment in which it is added. Observers are released when the procedure has
  /// finished.
  ///
  /// - Returns: a registration that can remove the observer. May be dropped.
  @discardableResult
  public final func add<Observer: ProcedureObserver>(
    observer: Observer
  ) -> ObserverRegistration {
    let registration = add(ProcedureObserverEntry(observer, at: ObserverPlace(observer.eventQueue)))
    // Too late for willExecute: its time begins here, not in the next turn, which may come after
    // `execute()`. If it was in time after all, the time that began with the event is over first.
    if state >= .started, !isFinished, let late = observer as? any BeginsWithStart {
      late.start(for: self)
    }
    return registration
  }

  /// Adds an observer that decides where it is called.
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
        entry.isAttached.value = true
        return .none
      }
      return core.life.post(.observerAdded)
    }
    return ObserverRegistration(entry: entry)
  }
}

/// The registration of an observer with a procedure. Dropping it does nothing: the observer stays.
public struct ObserverRegistration: Sendable {
  let entry: ObserverEntry

  /// Removes the observer from the procedure, which releases it: it receives no more events.
  ///
  /// It does not wait for a callback that is running on another thread.
  ///
  /// - Returns: true if this call removed it; false if it was removed before, or the procedure has
  ///   finished.
  @discardableResult
  public func remove() -> Bool { entry.remove() }
}
