import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// What the rounds cost a cluster, in virtual time.
@Suite("The rounds of jobs", .hangLimit)
struct JobRoundsTests {
  private let directory = FileManager.default.temporaryDirectory.appending(
    path: "JobRoundsTests-\(UUID())")
  private let start = ContinuousClock.now

  init() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  /// Takes all jobs, and keeps them in the line until they may run, without an end.
  private final class Line: Executor {
    let name = "line"
    let letsRun = Locked(false)
    let submissions = Locked<[String]>([])
    let questions = Locked(0)
    private let reason: String?

    init(because reason: String? = nil) { self.reason = reason }

    func submit(_ job: JobRequest) throws(ExecutorProblem) -> String {
      submissions.withLock { submissions in
        submissions.append(job.key)
        return "\(submissions.count)"
      }
    }

    func reports(of jobs: [JobReference]) throws(ExecutorProblem) -> [String: JobReport] {
      questions.withLock { $0 += 1 }
      let state: JobState = letsRun.withLock { $0 } ? .running : .waiting(because: reason)
      return Dictionary(
        uniqueKeysWithValues: jobs.map {
          ($0.key, JobReport(identifier: $0.identifier ?? "", state: state))
        })
    }

    func cancel(_ identifiers: [String], kills: Bool) throws(ExecutorProblem) {}
  }

  private final class Flag: Sendable {
    let isSet = Locked(false)
  }

  private func rounds(_ line: Line, every interval: Duration) -> JobRounds {
    JobRounds(
      line, directory: directory.path, pollInterval: interval, gracePeriod: .seconds(3), at: start
    ) { _ in }
  }

  private func box(_ count: Int, complains: @escaping @Sendable () -> Void = {}) -> JobDesk.Box {
    let events = Job.Events(
      note: { _ in nil }, began: { _ in }, wrote: { _ in }, says: { _ in },
      complains: { _ in complains() }, timeIsUp: {}, ended: { _, _ in })
    var box = JobDesk.Box()
    box.arrivals = (0..<count).map { number in
      JobDesk.Arrival(
        job: Job(Step(name: "\(number)", run: "true"), events), progress: JobProgress())
    }
    return box
  }

  @Test("300 jobs are handed in ten a second, and asked for together")
  func limits() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let line = Line()
    var rounds = rounds(line, every: .seconds(10))
    var times: [Duration] = []
    var now = start
    rounds.make(box(300), at: now)
    while now < start + .seconds(60) {
      while times.count < line.submissions.withLock({ $0.count }) { times.append(now - start) }
      now = max(now, try #require(rounds.due))
      rounds.make(JobDesk.Box(), at: now)
    }
    #expect(times.count == 300)
    for (first, eleventh) in zip(times, times.dropFirst(10)) {
      #expect(eleventh - first >= .seconds(1))
    }
    #expect(try #require(times.last) < .seconds(31))
    #expect(line.questions.withLock { $0 } == 6)
  }

  @Test(
    "why a job can never run is said within a minute, however seldom the cluster is asked",
    arguments: [0.5, 10, 30, 3_600])
  func reason(seconds: Double) throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let isSaid = Flag()
    var rounds = rounds(Line(because: "PartitionNodeLimit"), every: .seconds(seconds))
    var now = start
    rounds.make(box(1) { isSaid.isSet.withLock { $0 = true } }, at: now)
    while now < start + .seconds(60), !isSaid.isSet.withLock({ $0 }) {
      now = try #require(rounds.due)
      rounds.make(JobDesk.Box(), at: now)
    }
    #expect(isSaid.isSet.withLock { $0 } && now - start < .seconds(60))
  }

  /// What a job was told, in order.
  private final class Log: Sendable {
    let lines = Locked<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    var events: Job.Events {
      Job.Events(
        note: { [self] reference in
          add(reference == nil ? "forgotten" : "noted")
          return nil
        },
        began: { _ in }, wrote: { _ in }, says: { _ in }, complains: { [self] in add($0) },
        timeIsUp: { [self] in add("time is up") }, ended: { [self] end, _ in add("\(end)") })
    }
  }

  @Test("the timeout of a job counts from its start, and not from when it was handed in")
  func timeInTheLine() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (line, log) = (Line(), Log())
    var step = Step(name: "a", run: "true")
    step.timeout = .seconds(30)
    var rounds = rounds(line, every: .seconds(1))
    var box = JobDesk.Box()
    box.arrivals = [.init(job: Job(step, log.events), progress: JobProgress())]
    var now = start
    rounds.make(box, at: now)
    func isUp(after duration: Duration) -> Bool {
      let end = now + duration
      while let due = rounds.due, due <= end {
        now = max(now, due)
        rounds.make(JobDesk.Box(), at: now)
      }
      now = end
      return log.lines.withLock { $0.contains("time is up") }
    }
    #expect(!isUp(after: .seconds(3_600)))
    line.letsRun.withLock { $0 = true }
    #expect(!isUp(after: .seconds(29)))
    #expect(isUp(after: .seconds(29)))
  }

  /// Answers nothing, or that a job runs, whatever is done.
  private struct Stubborn: Executor {
    let name = "line"
    let isAway: Bool

    func submit(_ job: JobRequest) throws(ExecutorProblem) -> String { "8" }

    func reports(of jobs: [JobReference]) throws(ExecutorProblem) -> [String: JobReport] {
      guard !isAway else { throw ExecutorProblem(sentence: "it is away", isTransient: true) }
      return Dictionary(
        uniqueKeysWithValues: jobs.map {
          ($0.key, JobReport(identifier: "7", state: .running))
        })
    }

    func cancel(_ identifiers: [String], kills: Bool) throws(ExecutorProblem) {
      guard !isAway else { throw ExecutorProblem(sentence: "it is away", isTransient: true) }
    }
  }

  @Test(
    "a job that a killed run has left stays in the journal when the run is stopped before it has ended",
    arguments: [(true, true), (true, false), (false, false)])
  func left(isAway: Bool, isSame: Bool) throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let log = Log()
    let job = Job(Step(name: "a", run: "true"), log.events)
    var rounds = JobRounds(
      Stubborn(isAway: isAway), directory: directory.path, pollInterval: .seconds(1),
      gracePeriod: .seconds(3), at: start
    ) { _ in }
    var box = JobDesk.Box()
    let leftOver = JobReference(key: "k", identifier: "7")
    box.arrivals = [.init(job: job, progress: JobProgress(leftOver: leftOver, isSame: isSame))]
    box.cancelled = [(job, start)]
    rounds.make(box, at: start)
    var now = start
    while let due = rounds.due, now < start + .seconds(30) {
      now = max(now, due)
      rounds.make(JobDesk.Box(), at: now)
    }
    #expect(now - start <= .seconds(4))
    let why =
      isSame ? "may still run: the cluster does not answer" : "of an earlier run may still run"
    #expect(
      log.lines.withLock { $0 } == [
        "line: job 7 \(why); the next run looks for it", "\(JobEnd.lost("left"))",
      ])
  }
}
