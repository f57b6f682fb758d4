internal import ProcedurePrimitives

/// Slurm, through `sbatch`, `squeue`, `sacct` and `scancel`.
///
/// 1. The comment of a job is its key. So the job is found even if `sbatch` was killed before its
///    answer was noted.
/// 2. Slurm must not requeue a job when its machine fails: the plan decides whether a step is
///    retried.
/// 3. A job that must end gets SIGTERM and stays a job, which can be killed at once if it ignores
///    the signal. After a plain `scancel` only Slurm's own `KillWait`, half a minute, would kill
///    it.
/// 4. One question asks for all jobs of the user. If the cluster has accounting, `sacct` reports
///    jobs that `squeue` has forgotten.
final class SlurmExecutor: Executor {
  let name = "slurm"
  private let hasAccounting = Locked(true)

  func submit(_ job: JobRequest) throws(ExecutorProblem) -> String {
    var arguments = [
      "--parsable", "--job-name=\(job.name)", "--comment=\(Self.comment(job.key))",
      // Slurm replaces patterns that begin with a percent sign.
      "--output=\(job.outputPath.replacing(scalar: "%", with: "%%"))", "--open-mode=append",
      "--no-requeue", "--chdir=\(job.directory)",
    ]
    if let count = job.processors { arguments.append("--cpus-per-task=\(count)") }
    if let bytes = job.memory { arguments.append("--mem=\((bytes + (1 << 20) - 1) >> 20)M") }
    // The limit is in minutes. It leaves time for this process to end the job first.
    if let timeout = job.timeout {
      arguments.append("--time=\(timeout.components.seconds / 60 + 2)")
    }
    let answer: String
    do throws(ExecutorProblem) {
      answer = try ExecutorCommand.run(
        "/bin/sh", ["-c", "exec sbatch \"$@\" \(job.options ?? "")", "sbatch"] + arguments,
        input: job.script, environment: job.environment)
    } catch {
      throw ExecutorProblem(
        sentence: error.sentence.replacing("/bin/sh", with: "sbatch"),
        isTransient: error.isTransient || Self.isTransient(error.sentence))
    }
    // The answer is `1234`, or `1234;cluster`.
    let identifier = answer.split(separator: "\n").last?.prefix { $0.isASCII && $0.isNumber } ?? ""
    guard !identifier.isEmpty else {
      throw ExecutorProblem(sentence: "sbatch did not say the number of the job", isTransient: true)
    }
    return String(identifier)
  }

  func reports(of jobs: [JobReference]) throws(ExecutorProblem) -> [String: JobReport] {
    let text = try ExecutorCommand.run(
      "squeue", ["--noheader", "--me", "--states=all", "--format=%i|%T|%r|%k"])
    var (byIdentifier, byComment): ([String: JobReport], [String: JobReport]) = ([:], [:])
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4 else { continue }
      let report = JobReport(
        identifier: String(parts[0]), state: Self.state(parts[1], because: parts[2]))
      byIdentifier[report.identifier] = report
      byComment[String(parts[3])] = report
    }
    var reports: [String: JobReport] = [:]
    for job in jobs {
      reports[job.key] =
        job.identifier.flatMap { byIdentifier[$0] } ?? byComment[Self.comment(job.key)]
    }
    let forgotten = jobs.filter { reports[$0.key] == nil && $0.identifier != nil }
    return reports.merging(accounted(forgotten)) { known, _ in known }
  }

  func cancel(_ identifiers: [String], kills: Bool) throws(ExecutorProblem) {
    let ways =
      kills
      // Both options together make Slurm signal all processes, and not end the job itself.
      ? [["--signal=KILL", "--batch", "--full"]]
      : [["--state=PENDING"], ["--state=RUNNING", "--signal=TERM", "--full"]]
    for way in ways {
      do throws(ExecutorProblem) {
        _ = try ExecutorCommand.run("scancel", ["--quiet"] + way + identifiers)
      } catch {
        // Some jobs have ended; Slurm still handles the others.
        let hasEnded = ["Invalid job id", "already completing", "exited with status 1"].contains {
          error.sentence.hasSuffix($0) || error.sentence.hasSuffix("\($0) specified")
        }
        if !hasEnded { throw error }
      }
    }
  }

  // MARK: What Slurm says

  private func accounted(_ jobs: [JobReference]) -> [String: JobReport] {
    guard !jobs.isEmpty, hasAccounting.withLock({ $0 }) else { return [:] }
    let list = jobs.compactMap(\.identifier).joined(separator: ",")
    do throws(ExecutorProblem) {
      let text = try ExecutorCommand.run(
        "sacct", ["-n", "-P", "-X", "-o", "JobIDRaw,State", "-j", list])
      var reports: [String: JobReport] = [:]
      for line in text.split(separator: "\n") {
        let parts = line.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 2, let job = jobs.first(where: { $0.identifier == String(parts[0]) })
        else { continue }
        // The state may be `CANCELLED by 1000`.
        let word = parts[1].prefix { $0 != " " }
        let state = Self.state(word, because: "")
        // `squeue` says that it is over: if `sacct` says that it runs, its data are old.
        guard case .ended = state else { continue }
        reports[job.key] = JobReport(identifier: String(parts[0]), state: state)
      }
      return reports
    } catch {
      // Most small clusters have no accounting.
      if !error.isTransient { hasAccounting.withLock { $0 = false } }
      return [:]
    }
  }

  static func state(_ word: Substring, because reason: Substring) -> JobState {
    switch word {
    case "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT",
      "RESV_DEL_HOLD":
      let isUsual = ["", "None", "Priority", "Resources"].contains(reason)
      return .waiting(because: isUsual ? nil : String(reason))
    case "COMPLETED":
      return .ended(.status(0))
    case "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "BOOT_FAIL",
      "DEADLINE", "REVOKED", "LAUNCH_FAILED":
      return .ended(.lost(String(word)))
    default:
      return .running
    }
  }

  private static func comment(_ key: String) -> String { "runbook:\(key)" }

  /// A full queue, or a controller that is busy or does not answer, may recover.
  private static func isTransient(_ sentence: String) -> Bool {
    [
      "temporarily", "timed out", "Unable to contact", "Connection refused", "SubmitJob",
      "job submit limit", "not responding",
    ]
    .contains { sentence.contains($0) }
  }
}
