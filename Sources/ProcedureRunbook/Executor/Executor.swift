/// Runs the commands of steps elsewhere, such as on a cluster, through the cluster's own commands.
///
/// To add one, write a type with these functions and a line in `Executors`. All calls come from one
/// thread, one at a time, and may block. `JobDesk` waits, repeats and remembers.
protocol Executor: Sendable {
  /// Used in sentences and in plans: `slurm`.
  var name: String { get }

  /// Submits a job, and returns the cluster's identifier for it.
  func submit(_ job: JobRequest) throws(ExecutorProblem) -> String

  /// Asks for the states of all jobs in one question. The result has them by key, without jobs that
  /// the cluster does not know.
  func reports(of jobs: [JobReference]) throws(ExecutorProblem) -> [String: JobReport]

  /// Asks jobs to end, or kills them. Jobs that have already ended are ignored.
  func cancel(_ identifiers: [String], kills: Bool) throws(ExecutorProblem)
}

enum Executors {
  /// The name for a program of this machine.
  static let local = "local"
  static let names = ["slurm", local]

  /// Returns nil for `local`.
  static func named(_ name: String) -> (any Executor)? {
    switch name {
    case "slurm": SlurmExecutor()
    default: nil
    }
  }
}

/// The description of a job that the cluster gets.
struct JobRequest: Sendable {
  /// Unique to the job: it finds the job if its identifier was not noted.
  let key: String
  /// The name of the step.
  let name: String
  /// A script for `/bin/sh`. It writes its status into a file, see `JobFiles`.
  let script: String
  /// The file for both output streams.
  let outputPath: String
  let directory: String
  let environment: [String: String]
  let processors: Int?
  /// The memory, in bytes.
  let memory: Int?
  /// The time limit, by which the cluster ends the job even if this process has ended.
  let timeout: Duration?
  /// Further arguments for the cluster's command, in shell syntax.
  let options: String?
}

struct JobReference: Equatable, Sendable {
  let key: String
  /// nil while it is not known whether the cluster accepted it. Otherwise the cluster gave it to
  /// this process for the job with this key.
  var identifier: String?
}

/// The identifier and the state of a job, from the cluster.
struct JobReport: Equatable, Sendable {
  let identifier: String
  let state: JobState
}

enum JobState: Equatable, Sendable {
  /// It is queued; with the cluster's word for the reason, or nil for the usual one: others are
  /// before it.
  case waiting(because: String?)
  case running
  case ended(JobEnd)
}

enum JobEnd: Equatable, Sendable {
  /// Its command ended with this status.
  case status(Int32)
  /// It did not finish, or the cluster does not know; with the cluster's word.
  case lost(String)
}

/// Describes why a cluster's command failed.
struct ExecutorProblem: Error, Equatable {
  let sentence: String
  /// Whether asking again may help.
  var isTransient = false
}
