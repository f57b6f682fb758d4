internal import ProcedureExclusion
internal import ProcedurePrimitives

/// The requests of a group, or of a whole queue, to the list of its members.
extension ProcedureList {
  /// Makes these the children of the group. They can arrive as in the list of a queue: none is
  /// refused.
  ///
  /// Usually no other thread knows the list yet. But a cancelled child has turns, and their user
  /// code may find the group.
  func consist(of children: [Procedure]) {
    // 1. Without the lock for each: nothing can be refused yet.
    children.forEachUncounted { $0.enqueue(in: self, as: .initialChild) }
    // 2. From now on it may refuse some.
    arrivals.close()
    // 3. Later children are behind these, also among the kept ones.
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
      // 1. Children that leave from now on bring their weights.
      let forgotten = locked { storage in
        forgetsFinished.store(newValue ? 0 : 1)
        return storage.machine.keepFinishedChildren(newValue)
      }
      // 2. Those that had left are released after the lock. Reading a weight acquires a procedure's
      //    lock, which comes before that of the list.
      let weight = forgotten.reduce(0) { $0 + $1.progressWeight }
      if weight > 0 { locked { $0.machine.addForgotten(weight: weight) } }
    }
  }

  /// Whether members may start: it is not suspended, and its group has a slot and executes.
  var letsMembersStart: Bool { locked { $0.machine.isOpen } }

  /// The children, and the sum of the weights of all finished ones that are no longer among them.
  var childrenAndForgotten: (children: [Procedure], forgottenWeight: Double) {
    locked { ($0.machine.children, $0.machine.forgottenWeight) }
  }

  /// The error of a procedure that this list refuses.
  var refusal: ProcedureError {
    owner == nil
      ? ProcedureError(.queueClosed, of: context.supervisor.queueName)
      : ProcedureError(.groupFinished, of: group?.name ?? "")
  }

  /// From now on, added procedures wait for the barriers of the queue.
  ///
  /// - Returns: all procedures that were added before.
  func holdAdditions() -> [Procedure] {
    // A caller that finds the arrivals closed asks the machine, under the lock.
    arrivals.close()
    return locked { storage in
      storage.machine.holdAdditions()
      return storage.machine.procedures
    }
  }

  /// The queue refuses added procedures from now on.
  func close() {
    // 1. A later caller asks the machine, which has received all earlier arrivals by then.
    arrivals.close()
    let closing = locked { storage in
      storage.machine.close()
      return storage.closing
    }
    // 2. Calls that wait until they may add something return.
    closing?.cancel()
  }

  /// A token that is cancelled when the queue is closed.
  var closing: CancellationToken {
    // Under the lock it is closed, or `close()` finds the source.
    let (source, isClosed) = locked { storage in
      let source = storage.closing ?? CancellationTokenSource()
      storage.closing = source
      return (source, storage.machine.isClosed)
    }
    if isClosed { source.cancel() }
    return source.token
  }

  /// The queue that the group is on is known, if its own list is on one: from now on children run
  /// there.
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

  /// - Returns: the lists of groups among the children, which must adopt it as well.
  private func adopt(_ context: SchedulingContext) -> [ProcedureList] {
    // A caller that adds a child after this asks under the lock, and finds the context. The group
    // may still be under construction: user code in the turn of a cancelled child may have added it
    // to a queue.
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
  /// - Returns: the present children. Later ones are announced when they are added.
  func announce() -> [Procedure] {
    lockedAsArrived { storage in
      storage.machine.announce()
      return storage.machine.children
    }
  }

  /// The group executes: children may start.
  ///
  /// - Parameter leavesWorker: whether the caller provides the worker, if only that is needed.
  /// - Returns: whether only that is needed, and the caller must provide it.
  func begin(as group: Procedure, leavesWorker: Bool) -> Bool {
    // 1. It has started, so it holds its categories, and so do the groups around it. This is read
    //    before the lock of its children's list, since that comes later in the order.
    let (request, list) = group.peek { ($0.requirements?.value.exclusion?.request, $0.list) }
    let around = request ?? list?.exclusionAround
    // 2. The children ask for categories inside of those from their first start on.
    let followUp = lockedAsArrived { storage in
      if storage.exclusionAround == nil { storage.exclusionAround = around }
      storage.machine.begin()
      return self.followUp(of: &storage)
    }
    // 3. The worker of the group may go on with the children itself.
    if leavesWorker, followUp.isOnlyWorker { return true }
    followUp.perform()
    return false
  }

  /// The request of the innermost group around its members that excludes others.
  private var exclusionAround: MemberRequest? {
    owner == nil ? nil : locked { $0.exclusionAround }
  }

  /// True if no child is left, and none will be accepted.
  func settle() -> Bool {
    let (isClosed, around) = lockedAsArrived { storage in
      let isClosed = storage.machine.settle()
      // It is released after the lock. The request keeps the group alive, which keeps this list.
      return (isClosed, isClosed ? storage.exclusionAround.take() : nil)
    }
    _ = around
    return isClosed
  }

  /// The members of a list that is being cancelled.
  enum Cancelled: Sendable {
    /// They may not be marked yet.
    case members([Procedure])
    /// An earlier walk marks them, and all members that are added later.
    case walkedBy(FollowerWalk)
  }

  /// The group is about to read cancelled: from now on no child starts, and each added child is
  /// cancelled.
  ///
  /// Called under the group's lock, in the critical section that sets its flag; for a group that is
  /// added to a cancelled group, also under the lock of the list around it. A walk that marks the
  /// children follows.
  func close(by cancel: TreeCancel) {
    arrivals.close()
    storage.withLock { storage in
      storage.machine.cancel()
      if storage.treeCancel == nil { storage.treeCancel = cancel }
    }
  }

  /// Marks the group, or queue, as cancelled. The walk of `cancel` marks the members.
  func cancel(_ cancel: TreeCancel) -> Cancelled {
    arrivals.close()
    return locked { storage in
      // 1. The walk that closed the list has visited it, or will, unless this is the same walk, and
      //    it comes now.
      if let earlier = storage.treeCancel, storage.isWalked || earlier !== cancel,
        earlier.meet(cancel), storage.isWalked || earlier.walk != cancel.walk
      {
        return .walkedBy(earlier.walk)
      }
      // 2. Usually no walk has come: this walk marks the members.
      storage.machine.cancel()
      if storage.treeCancel == nil { storage.treeCancel = cancel }
      storage.isWalked = true
      return .members(storage.machine.procedures)
    }
  }

  /// Runs `body` under the lock, with each added child in the machine: as a member, or as an
  /// arrival.
  ///
  /// For code that visits children, or asks whether there are any. A cancelled child may have had a
  /// turn while the group was under construction: then some children were received before the
  /// others arrived, and become members first.
  private func lockedAsArrived<Result: Sendable>(_ body: (inout Storage) -> Result) -> Result {
    storage.withLock { storage in
      receiveAll(&storage)
      return body(&storage)
    }
  }

  func abandon() -> ListMachine.Remains { locked { $0.machine.abandon() } }
}

extension [Procedure] {
  /// The elements of a sequence.
  ///
  /// They are copied into an array first: a generic iterator allocates and frees memory for each
  /// element. A cast of the array would be a dynamic cast of each element.
  init<Procedures: Sequence>(listing procedures: Procedures) where Procedures.Element: Procedure {
    if Procedures.self == [Procedure].self, let procedures = procedures as? [Procedure] {
      self = procedures
    } else {
      self = unsafe Array<Procedures.Element>(procedures).withUnsafeBufferPointer { elements in
        unsafe elements.withMemoryRebound(to: Procedure.self) { unsafe [Procedure]($0) }
      }
    }
  }

  /// Calls `body` with each element, without the retain that a loop makes: the array keeps the
  /// elements.
  func forEachUncounted(_ body: (Procedure) -> Void) {
    unsafe withUnsafeBufferPointer { elements in
      unsafe elements.withMemoryRebound(to: Unmanaged<Procedure>.self) { references in
        unsafe references.forEach { unsafe $0._withUnsafeGuaranteedRef(body) }
      }
    }
  }
}
