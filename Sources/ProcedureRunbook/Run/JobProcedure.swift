internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

/// One attempt at a step's command, as a cluster job.
///
/// It executes from the time at which the job is given to the desk until the job has ended. Its
/// timeout counts from the start of the job. If a killed run has left a job for the same command
/// and inputs, it follows that one.
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
  ///   - freshness: nil for a step without a record.
  ///   - began: called when the job has begun, with the time of that.
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

  /// The time that the job ran; nil until it has ended, or if it never began.
  var duration: Duration? {
    times.withLock { times in
      guard let start = times.start, let end = times.end else { return nil }
      return max(.zero, end - start)
    }
  }

  override func execute() {
    // 1. Find the job that a killed run has left, and compare its work.
    let marks = StepIdentity(of: step).all.text + "-" + (freshness?.inputMarks ?? "")
    let leftOver = journal.job(of: step)
    let progress = JobProgress(
      leftOver: leftOver?.reference, isSame: leftOver?.marks == marks)
    // 2. Give the job to the desk, which calls the events from now on.
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
