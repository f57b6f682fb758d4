internal import ProcedurePrimitives

/// How a worker takes members from a list, and brings them back.
extension ReadyList {
  /// A worker has arrived on a thread.
  ///
  /// - Returns: the first thing to run.
  func takeFirst(on context: SchedulingContext) -> Job<Procedure>? {
    take(on: context) { storage in
      storage.machine.workerArrived()
      isWorkerComing.store(0)
      // By a change of the arrivals, not only after a look at them: what a caller has added that
      // still found a worker expected is there, and a later caller finds none expected.
      if storage.machine.hasArrivals {
        arrivals.order()
      } else {
        receive(&storage)
      }
    }
  }

  /// The next job for a worker of that context; nil if there is none, or it runs elsewhere now.
  func take(
    on context: SchedulingContext, after event: (inout Storage) -> Void = { _ in }
  ) -> Job<Procedure>? {
    let (job, aftermath) = storage.withLock { storage -> (Job<Procedure>?, Aftermath) in
      guard storage.context === context else { return (nil, self.aftermath(of: &storage)) }
      event(&storage)
      let job = takeJob(&storage)
      return (job, self.aftermath(of: &storage))
    }
    aftermath.carryOut()
    return job
  }

  /// The turn of a procedure has ended, and the procedure has not.
  ///
  /// - Parameter isLast: whether this worker goes then. Another is asked for if there is work.
  func take(
    on context: SchedulingContext, after last: Job<Procedure>, isLast: Bool
  ) -> Job<Procedure>? {
    let (isGivenBack, job, aftermath) = storage.withLock {
      storage -> (Bool, Job<Procedure>?, Aftermath) in
      var isGivenBack = false
      if case .start = last.kind { isGivenBack = storage.machine.giveBack(last.member) }
      if isLast { receiveArrivals(&storage) }
      let job = isLast || storage.context !== context ? nil : takeJob(&storage)
      return (isGivenBack, job, self.aftermath(of: &storage))
    }
    aftermath.carryOut()
    // Whatever it waits for now, apart from a wait for others, begins at the end of a turn.
    if context.wantsLooks { context.supervisor.noteWait(in: self) }
    if !isGivenBack { last.member.release() }
    return job
  }

  /// The categories of a ready member are granted in the same step as its slot. One that is
  /// not granted it steps aside.
  @inline(__always)
  private func takeJob(_ storage: inout Storage) -> Job<Procedure>? {
    receiveArrivals(&storage)
    // Again, so that a worker is asked for on behalf of those behind the last one of a batch.
    defer { receiveArrivals(&storage) }
    while let taken = storage.machine.take() {
      switch taken {
      case .job(let job): return job
      case .mustAsk(let request): if let job = ask(request, &storage) { return job }
      }
    }
    return nil
  }

  /// One critical section: the finished procedure leaves, and the worker gets its next job, which
  /// may be a dependent that has just become ready. A chain therefore runs on one worker, in
  /// first-in-first-out order.
  func retire(
    _ member: Member<Procedure>, on context: SchedulingContext, takesNext: Bool
  ) -> (next: Job<Procedure>?, finishedGroup: Procedure?) {
    let (job, aftermath, end) = storage.withLock {
      storage -> (Job<Procedure>?, Aftermath, RareEnd?) in
      let (closes, request) = storage.machine.retire(member)
      receiveArrivals(&storage)
      let takes = takesNext && !closes && storage.context === context
      if request == nil, storage.machine.count > 0 || !closes && storage.isPlainWhenEmpty {
        return (takes ? takeJob(&storage) : nil, self.aftermath(of: &storage), nil)
      }
      let (end, offers) = retireRarely(request, closes, &storage)
      let job = takes ? takeJob(&storage) : nil
      return (job, self.aftermath(of: &storage, offering: offers), end)
    }
    // As mostly: nothing follows.
    if case .none = aftermath, end == nil { return (job, nil) }
    aftermath.carryOut()
    end?.emptyWaiters.forEach { $0.resume() }
    guard end?.hasClosed == true, let group = owner?.group, group.childrenFinished() else {
      return (job, nil)
    }
    return (job, group)
  }
}
