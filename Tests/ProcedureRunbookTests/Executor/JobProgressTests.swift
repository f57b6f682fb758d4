import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// The table at the head of `JobProgress`, with what files and the cluster say in any order.
@Suite("How far a job is", .hangLimit)
struct JobProgressTests {
  private let start = ContinuousClock.now

  private func report(_ state: JobState) -> JobReport { JobReport(identifier: "7", state: state) }

  private func there() -> JobProgress {
    var progress = JobProgress()
    progress.handIn("k")
    progress.wasTaken(as: "7")
    return progress
  }

  private func expect(
    _ news: [JobProgress.News], _ expected: [JobProgress.News],
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(news == expected, sourceLocation: location)
  }

  @Test("a job waits in the line, is handed in, begins with its output and ends with its status")
  func life() {
    var progress = JobProgress()
    #expect(progress.phase == .line && progress.reference == nil)
    progress.handIn("k")
    #expect(progress.phase == .unsure(JobReference(key: "k", identifier: nil)) && progress.isUrgent)
    progress.wasTaken(as: "7")
    #expect(progress.phase == .there(JobReference(key: "k", identifier: "7")) && !progress.isUrgent)
    expect(progress.hear(report(.waiting(because: nil)), at: start), [])
    expect(progress.look(status: nil, hasOutput: true, at: start), [.began])
    #expect(progress.beganAt == start)
    expect(progress.hear(report(.running), at: start), [])
    expect(progress.look(status: 3, hasOutput: true, at: start), [.ended(.status(3))])
    #expect(progress.phase == .over)
    expect(progress.look(status: 3, hasOutput: true, at: start), [])
    expect(progress.hear(nil, at: start), [])
  }

  @Test("the cluster's word of an end counts only when the status has not come for a while")
  func wordOfEnd() {
    var progress = there()
    expect(progress.hear(report(.ended(.lost("NODE_FAIL"))), at: start), [])
    expect(progress.look(status: nil, hasOutput: true, at: start + .seconds(4)), [.began])
    var other = progress
    expect(
      progress.look(status: nil, hasOutput: true, at: start + .seconds(5)),
      [.ended(.lost("NODE_FAIL"))])
    expect(
      other.look(status: 0, hasOutput: true, at: start + .seconds(5)), [.ended(.status(0))])
  }

  @Test("the status of a cancelled job is not waited for")
  func cancelled() {
    var progress = there()
    progress.cancel()
    expect(progress.hear(report(.ended(.lost("CANCELLED"))), at: start), [])
    expect(
      progress.look(status: nil, hasOutput: false, at: start), [.ended(.lost("CANCELLED"))])
  }

  @Test("a job is lost when the cluster does not know it in two answers, one after the other")
  func unknown() {
    var progress = there()
    expect(progress.hear(nil, at: start), [])
    expect(progress.hear(report(.running), at: start), [.began])
    expect(progress.hear(nil, at: start), [])
    expect(progress.look(status: nil, hasOutput: true, at: start + .seconds(60)), [])
    expect(progress.hear(nil, at: start), [])
    expect(
      progress.look(status: nil, hasOutput: true, at: start + .seconds(5)),
      [.ended(.lost("job 7 is not known any more"))])
  }

  @Test("the reason why a job waits is reported once, when it stays")
  func reasons() {
    var progress = there()
    let state = report(.waiting(because: "PartitionConfig"))
    expect(progress.hear(state, at: start), [])
    expect(progress.hear(state, at: start), [.waits("PartitionConfig")])
    expect(progress.hear(state, at: start), [])
    expect(progress.hear(report(.waiting(because: "JobHeldUser")), at: start), [])
    expect(
      progress.hear(report(.waiting(because: "JobHeldUser")), at: start), [.waits("JobHeldUser")])
  }

  @Test("a job of a killed run is found by its key, and followed, or handed in anew")
  func leftOver() {
    let reference = JobReference(key: "k", identifier: nil)
    var found = JobProgress(leftOver: reference)
    let full = JobReference(key: "k", identifier: "7")
    expect(found.hear(report(.running), at: start), [.found(full), .began])
    #expect(found.phase == .there(full))

    var ended = JobProgress(leftOver: full)
    expect(ended.look(status: 0, hasOutput: true, at: start), [.began, .ended(.status(0))])

    for state in [report(.ended(.lost("CANCELLED"))), nil] {
      var gone = JobProgress(leftOver: full)
      expect(gone.look(status: nil, hasOutput: true, at: start), [])
      expect(gone.hear(state, at: start), [])
      if state == nil { expect(gone.hear(nil, at: start), []) }
      #expect(gone.phase == .line)
    }
  }

  @Test("a job of a killed run whose command has changed must end before the new one is handed in")
  func clearing() {
    var progress = JobProgress(
      leftOver: JobReference(key: "k", identifier: nil), isSame: false)
    expect(progress.hear(report(.running), at: start), [])
    #expect(progress.reference?.identifier == "7" && progress.isUrgent)
    expect(progress.look(status: 0, hasOutput: true, at: start), [])
    expect(progress.hear(report(.ended(.lost("CANCELLED"))), at: start), [])
    #expect(progress.phase == .line)
  }

  @Test("a reason stays the same when the names of machines behind it change")
  func changingReasons() {
    var progress = there()
    let words = [
      "ReqNodeNotAvail, UnavailableNodes:n1", "ReqNodeNotAvail, UnavailableNodes:n[1-2]",
    ]
    expect(progress.hear(report(.waiting(because: words[0])), at: start), [])
    expect(progress.hear(report(.waiting(because: words[1])), at: start), [.waits(words[1])])
    expect(progress.hear(report(.waiting(because: words[0])), at: start), [])
  }

  @Test("only the key of a killed run's job counts until the cluster has answered")
  func unconfirmed() {
    for isSame in [true, false] {
      let progress = JobProgress(
        leftOver: JobReference(key: "k", identifier: "7"), isSame: isSame)
      #expect(progress.reference == JobReference(key: "k", identifier: nil))
    }
  }

  @Test("the words of Slurm are understood")
  func words() {
    #expect(SlurmExecutor.state("PENDING", because: "Priority") == .waiting(because: nil))
    #expect(
      SlurmExecutor.state("PENDING", because: "QOSMaxJobsPerUserLimit")
        == .waiting(because: "QOSMaxJobsPerUserLimit"))
    for word in ["RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT"] {
      #expect(SlurmExecutor.state(Substring(word), because: "None") == .running)
    }
    #expect(SlurmExecutor.state("COMPLETED", because: "None") == .ended(.status(0)))
    #expect(SlurmExecutor.state("TIMEOUT", because: "None") == .ended(.lost("TIMEOUT")))
  }
}
