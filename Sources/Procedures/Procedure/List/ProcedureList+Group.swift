internal import ProcedurePrimitives

/// The requests of a group, or of a queue as a whole, to the list of its members.
extension ProcedureList {
  /// The group is made of these children, which can arrive as in the list of a queue: it refuses none of them.
  ///
  /// Mostly no other thread knows of the list yet. But one of them that is cancelled has its turns, and with them
  /// user code that may find the group.
  func consist(of children: [Procedure]) {
    children.forEachUncounted { $0.enqueue(in: self, as: .initialChild) }
    // From here on it may refuse some.
    arrivals.close()
    let followUp = lockedAsArrived { storage in
      storage.machine.consist(of: children)
      return self.followUp(of: &storage)
    }
    followUp.perform()
  }

  /// Whether children are kept that have finished.
  var keepsFinishedChildren: Bool {
    get { locked { $0.machine.keepsFinishedChildren } }
    set {
      let forgotten = locked { $0.machine.keepFinishedChildren(newValue) }
      _ = forgotten
    }
  }

  /// The error of a procedure that this list refuses.
  var refusal: ProcedureError {
    owner == nil
      ? ProcedureError(.queueClosed, of: context.supervisor.queueName)
      : ProcedureError(.groupFinished, of: group?.name ?? "")
  }

  /// From here on, added procedures wait for the barriers of the queue.
  ///
  /// - Returns: all procedures that were added before.
  func holdAdditions() -> [Procedure] {
    arrivals.close()
    return locked { storage in
      storage.machine.holdAdditions()
      return storage.machine.procedures
    }
  }

  /// The queue refuses from here on.
  func close() {
    // A caller that adds after this asks the machine, which by then has all that arrived before.
    arrivals.close()
    locked { $0.machine.close() }
  }

  /// The queue that the group is on is known, if its own list is on one: children run there, from here on.
  ///
  /// Iterative: groups may be nested thousands deep.
  func adoptEverywhere(_ context: SchedulingContext) {
    if context.isDetached { return }
    var unadopted = [self]
    while let next = unadopted.popLast() {
      unadopted += next.adopt(context)
      next.beginAwaitedRecording()
    }
  }

  /// - Returns: the lists of groups among the children, which are to adopt it as well.
  private func adopt(_ context: SchedulingContext) -> [ProcedureList] {
    // A child that is added after this asks under the lock, and finds the context. The group may still be being made, and
    // user code in the turn of a cancelled child have added it to a queue.
    if arrivals.isOpen { arrivals.close() }
    let lists: [ProcedureList] = lockedAsArrived { storage in
      if isOnQueue { return [] }
      setContext(context, under: &storage)
      var lists: [ProcedureList] = []
      storage.machine.forEach { if let list = $0.childList { lists.append(list) } }
      return lists
    }
    return lists
  }

  /// The group is about to execute.
  ///
  /// - Returns: the children so far. Later ones are announced when they are added.
  func announce() -> [Procedure] {
    lockedAsArrived { storage in
      storage.machine.announce()
      return storage.machine.children
    }
  }

  /// The group executes: children may start.
  ///
  /// - Parameter leavesWorker: whether the caller sees to a worker, if that is all that is needed.
  /// - Returns: whether it is, and the caller does.
  func begin(as group: Procedure, leavesWorker: Bool) -> Bool {
    // It has started, so it holds its categories, as do the groups around it.
    let (request, list) = group.peek { ($0.requirements?.exclusion?.request, $0.list) }
    let around = request ?? list?.exclusionAround
    let followUp = lockedAsArrived { storage in
      if storage.exclusionAround == nil { storage.exclusionAround = around }
      storage.machine.begin()
      return self.followUp(of: &storage)
    }
    if leavesWorker, followUp.isOnlyWorker { return true }
    followUp.perform()
    return false
  }

  /// That of the innermost group around its members that excludes others.
  private var exclusionAround: ExclusionRequest? {
    owner == nil ? nil : locked { $0.exclusionAround }
  }

  /// True if no child is left, and none will be accepted.
  func settle() -> Bool {
    let (isClosed, around) = lockedAsArrived { storage in
      let isClosed = storage.machine.settle()
      // It keeps the group, which keeps this.
      return (isClosed, isClosed ? storage.exclusionAround.take() : nil)
    }
    _ = around
    return isClosed
  }

  /// The members of a list that is being cancelled.
  enum Cancelled: Sendable {
    /// They may not be marked yet.
    case members([Procedure])
    /// An earlier walk marks them, and all that are added.
    case walkedBy(FollowerWalk)
  }

  /// The group reads cancelled in a moment: no child starts from here on, and each that is added is cancelled.
  ///
  /// Called under the group's lock, in the critical section that sets its flag; for a group that is added to a cancelled
  /// one also under the lock of the list around it. A walk that marks the children follows.
  func close(by cancel: TreeCancel) {
    arrivals.close()
    storage.withLock { storage in
      storage.machine.cancel()
      if storage.treeCancel == nil { storage.treeCancel = cancel }
    }
  }

  /// Marks the group, or queue, as cancelled, and has the walk of `cancel` mark the members.
  func cancel(_ cancel: TreeCancel) -> Cancelled {
    arrivals.close()
    return locked { storage in
      // 1. The walk that has closed the list has come to it, or will; unless this is that walk, and comes now.
      if let earlier = storage.treeCancel, storage.isWalked || earlier !== cancel,
        earlier.meet(cancel), storage.isWalked || earlier.walk != cancel.walk
      {
        return .walkedBy(earlier.walk)
      }
      // 2. Usually it has not: this one does.
      storage.machine.cancel()
      if storage.treeCancel == nil { storage.treeCancel = cancel }
      storage.isWalked = true
      return .members(storage.machine.procedures)
    }
  }

  /// Runs `body` under the lock, with each child that was added in the machine: as a member, or as one that has arrived.
  ///
  /// For what visits children, or asks whether there are any. A child that was cancelled may have had a turn while the
  /// group was being made: then some have been received before the others arrived, and are received first.
  private func lockedAsArrived<Result: Sendable>(_ body: (inout Storage) -> Result) -> Result {
    storage.withLock { storage in
      receiveAll(&storage)
      return body(&storage)
    }
  }

  func abandon() -> ListMachine.Remains { locked { $0.machine.abandon() } }
}

extension [Procedure] {
  /// Those of a sequence.
  ///
  /// By an array: a generic iterator makes, and gives back, a block of memory for each element. And not by a cast of
  /// it, which would be a dynamic one for each.
  init<Procedures: Sequence>(listing procedures: Procedures) where Procedures.Element: Procedure {
    if Procedures.self == [Procedure].self, let procedures = procedures as? [Procedure] {
      self = procedures
    } else {
      self = unsafe Array<Procedures.Element>(procedures).withUnsafeBufferPointer { elements in
        unsafe elements.withMemoryRebound(to: Procedure.self) { unsafe [Procedure]($0) }
      }
    }
  }

  /// Calls with each element, without counting a reference to it as a loop does: the array keeps them.
  func forEachUncounted(_ body: (Procedure) -> Void) {
    unsafe withUnsafeBufferPointer { elements in
      unsafe elements.withMemoryRebound(to: Unmanaged<Procedure>.self) { references in
        unsafe references.forEach { unsafe $0._withUnsafeGuaranteedRef(body) }
      }
    }
  }
}
