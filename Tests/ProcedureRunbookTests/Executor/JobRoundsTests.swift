import Foundation
import Synchronization
import Testing

@testable import ProcedureRunbook

/// What the rounds cost a cluster, in virtual time.
@Suite("The rounds of jobs")
struct JobRoundsTests {
  private let directory = FileManager.default.temporaryDirectory.appending(
    path: "JobRoundsTests-\(UUID())")
  private let start = ContinuousClock.now

  init() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  /// Takes all jobs, and keeps them in the line.
  private final class Line: Executor {
    let name = "line"
    let submissions = Mutex<[String]>([])
    let questions = Mutex(0)
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
      return Dictionary(
        uniqueKeysWithValues: jobs.map {
          ($0.key, JobReport(identifier: $0.identifier ?? "", state: .waiting(because: reason)))
        })
    }

    func cancel(_ identifiers: [String], kills: Bool) throws(ExecutorProblem) {}
  }

  private final class Flag: Sendable {
    let isSet = Mutex(false)
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
}
