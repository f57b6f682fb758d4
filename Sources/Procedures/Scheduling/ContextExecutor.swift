/// Runs the jobs of tasks where the procedures of a queue run.
///
/// The executor preference of tasks that evaluate conditions: what such a task does between two
/// suspensions is one submission to the queue's scheduler. So it runs on the queue's underlying Dispatch
/// queue, if it has one, and a simulation sees each step. `ProcedureTask` is that of procedures.
final class ContextExecutor: TaskExecutor {
  private let scheduler: any Scheduler

  init(scheduler: any Scheduler) {
    self.scheduler = scheduler
  }

  /// Has the job run by the scheduler. Keeps the executor alive until it has.
  func enqueue(_ job: consuming ExecutorJob) {
    enqueue(UnownedJob(job), on: self)
  }

  /// Has the job of another executor run by the scheduler.
  func enqueue(_ job: UnownedJob, on executor: some TaskExecutor) {
    scheduler.submit(quality: nil) {
      unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
    }
  }
}
