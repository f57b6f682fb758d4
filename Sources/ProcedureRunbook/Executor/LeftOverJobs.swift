internal import ProcedurePrimitives
import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Cluster jobs that a killed run has left, of steps that would now run on this machine: job and
/// step would write the same files at the same time.
final class LeftOverJobs: Sendable {
  private typealias LeftOver = (step: Step, reference: JobReference)

  private let jobs: [LeftOver]
  private let journal: RunJournal
  private let directory: String
  private let problems = Locked<[Name: String]>([:])

  init(of steps: some Sequence<Step>, _ journal: RunJournal, in directory: String) {
    jobs = steps.compactMap { step in
      journal.job(of: step).map { (step, $0.reference) }
    }
    self.journal = journal
    self.directory = directory
  }

  /// The reason why a step must not run; nil if it may.
  func problem(of step: Name) -> String? { problems.withLock { $0[step] } }

  /// Asks the clusters, and forgets the jobs that have ended.
  func look() async {
    guard !jobs.isEmpty else { return }
    let executors = Executors.names.compactMap(Executors.named)
    await withCheckedContinuation { continuation in
      let isLooking = BackgroundThread.start { [self] in
        for executor in executors { look(executor) }
        continuation.resume()
      }
      guard !isLooking else { return }
      for executor in executors { refuse(jobs, because: StandardStreams.noThreads, executor) }
      continuation.resume()
    }
  }

  private func look(_ executor: any Executor) {
    // 1. A job that has noted its status is over.
    var rest = jobs.filter { JobFiles(of: $0.reference.key, in: directory).readStatus() == nil }
    for job in jobs where !rest.contains(where: { $0.step.name == job.step.name }) { forget(job) }
    // 2. The cluster must say twice that it does not know a job. The question has only keys, since
    //    only these are certain.
    for isLast in [false, true] where !rest.isEmpty {
      let keys = rest.map { JobReference(key: $0.reference.key, identifier: nil) }
      let reports: [String: JobReport]
      do throws(ExecutorProblem) {
        reports = try executor.reports(of: keys)
      } catch {
        return refuse(rest, because: error.sentence, executor)
      }
      for job in rest {
        switch reports[job.reference.key]?.state {
        case .waiting?, .running?:
          refuse(
            job, "\(Self.name(job, executor)) of an earlier run still is there for it", executor)
        case .ended?: forget(job)
        case nil where isLast: forget(job)
        case nil: break
        }
      }
      rest.removeAll { reports[$0.reference.key] != nil }
      if !isLast, !rest.isEmpty { sleep(1) }
    }
  }

  /// Refuses the steps of these jobs, since neither the journal nor the cluster says that they
  /// ended.
  private func refuse(
    _ jobs: [LeftOver], because reason: String, _ executor: any Executor
  ) {
    for job in jobs {
      refuse(job, "\(Self.name(job, executor)) may still run for it: \(reason)", executor)
    }
  }

  private static func name(_ job: LeftOver, _ executor: any Executor) -> String {
    "\(executor.name) job\(job.reference.identifier.map { " \($0)" } ?? "")"
  }

  private func refuse(_ job: LeftOver, _ sentence: String, _ executor: any Executor) {
    problems.withLock {
      $0[job.step.name] =
        "\(sentence); cancel that job, or follow it with '--executor \(executor.name)'"
    }
  }

  private func forget(_ job: LeftOver) {
    _ = journal.note(nil, of: job.step)
    JobFiles(of: job.reference.key, in: directory).remove()
  }
}
