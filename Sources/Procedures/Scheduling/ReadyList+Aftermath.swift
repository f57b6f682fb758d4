extension ReadyList {
  /// What a critical section leaves to be done when all locks have been let go of. Mostly nothing.
  struct Aftermath: Sendable {
    final class Work: Sendable {
      let list: ReadyList
      /// The context on which the list needs a worker.
      let workerContext: SchedulingContext?
      /// Told that members wait that no worker can help.
      let watch: WaitWatch?
      /// What was freed, for procedures of other lists.
      let offers: [ExclusionRequest]

      init(
        on list: ReadyList, workerContext: SchedulingContext?, watch: WaitWatch?,
        offers: [ExclusionRequest]
      ) {
        self.list = list
        self.workerContext = workerContext
        self.watch = watch
        self.offers = offers
      }
    }

    var work: Work?

    /// Joins what an earlier step in the same critical section of a procedure left to be done.
    func following(_ earlier: Aftermath?) -> Aftermath {
      guard let earlier = earlier?.work else { return self }
      guard let work else { return Aftermath(work: earlier) }
      return Aftermath(
        work: Work(
          on: work.list, workerContext: earlier.workerContext ?? work.workerContext,
          watch: work.watch, offers: earlier.offers + work.offers))
    }

    func carryOut() {
      guard let work else { return }
      let list = work.list
      if let context = work.workerContext {
        context.scheduler.submit(quality: nil) { list.work(on: context) }
      }
      work.watch?.noteStuck(in: list)
      if !work.offers.isEmpty { ReadyList.pass(on: work.offers) }
    }
  }
}
