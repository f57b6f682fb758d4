internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

/// One attempt at a step's command as a job of a cluster.
///
/// It executes from when the job waits to be handed in until it has ended. Its timeout counts from when the job has
/// begun. A job that a killed run has left is followed instead of a new one, if what it runs is the same.
final class JobProcedure: Procedure, EndsByItself, @unchecked Sendable {
  private let step: Step
  private let attempt: Int
  private let desk: JobDesk
  private let journal: RunJournal
  private let freshness: StepFreshness?
  private let output: StepOutput
  private let began: @Sendable (ContinuousClock.Instant) -> Void
  private let job = Locked<Job?>(nil)
  private let times = Locked<(start: ContinuousClock.Instant?, end: ContinuousClock.Instant?)>(
    (nil, nil))

  /// - Parameters:
  ///   - freshness: nil for a step without outputs.
  ///   - began: called when the cluster has begun it, with when that was.
  init(
    _ step: Step, attempt: Int, at desk: JobDesk, _ journal: RunJournal,
    makes freshness: StepFreshness?,
    output: StepOutput, began: @escaping @Sendable (ContinuousClock.Instant) -> Void
  ) {
    (self.step, self.attempt) = (step, attempt)
    self.desk = desk
    self.journal = journal
    self.freshness = freshness
    self.output = output
    self.began = began
  }

  /// How long the job ran; nil until it has ended, or if it never began.
  var duration: Duration? {
    times.withLock { times in
      guard let start = times.start, let end = times.end else { return nil }
      return max(.zero, end - start)
    }
  }

  override func execute() {
    // 1. What a killed run has left of this step, and whether that runs the same.
    let marks = StepIdentity(of: step).all.text + "-" + (freshness?.inputMarks ?? "")
    let leftOver = journal.job(of: step)
    let progress = JobProgress(
      leftOver: leftOver?.reference, isSame: leftOver?.marks == marks)
    // 2. From here on the desk calls.
    let job = Job(step, attempt: attempt, events(marks))
    self.job.withLock { $0 = job }
    if !desk.add(job, progress) {
      finish(withError: StepCheckFailed(description: StandardStreams.noThreads))
    }
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    if let job = job.withLock({ $0 }) { desk.cancel(job) }
  }

  private func events(_ marks: String) -> Job.Events {
    Job.Events(
      note: { [journal, step] reference in
        journal.note(reference.map { RunJournal.Job(reference: $0, marks: marks) }, of: step)
      },
      began: { [self] start in
        times.withLock { $0.start = start }
        began(start)
      },
      wrote: { [output] in output.append($0) },
      says: { [output] in output.append(line: $0) },
      complains: { [output] in output.complain($0) },
      timeIsUp: { [self] in cancel(withError: ProcedureError(.timedOut, procedure: name)) },
      ended: { [self] end, moment in
        times.withLock { $0.end = moment }
        jobDidEnd(end)
      })
  }

  private func jobDidEnd(_ end: JobEnd) {
    switch end {
    case _ where isCancelled:
      finish()
    case .status(0):
      if let freshness {
        freshness.check(began: times.withLock { $0.start } ?? .now, isElsewhere: true) { problem in
          self.finish(withError: problem)
        }
      } else {
        finish()
      }
    case .status(let status):
      finish(withError: StepCheckFailed(description: ProcessExit.status(status).description))
    case .lost(let sentence):
      finish(withError: StepCheckFailed(description: sentence))
    }
  }
}
