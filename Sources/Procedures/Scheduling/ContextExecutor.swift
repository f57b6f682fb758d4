/// Runs Swift's tasks on the workers of a queue.
///
/// A task that prefers it runs where procedures of the queue run: on its underlying Dispatch queue,
/// or in simulation.
final class ContextExecutor: TaskExecutor {
  private let scheduler: any Scheduler

  init(scheduler: any Scheduler) {
    self.scheduler = scheduler
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    scheduler.submit(quality: nil) {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
