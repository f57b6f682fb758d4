/// Where the commands of steps run, other than as programs of this machine: a cluster, by its own commands.
///
/// A second one is a type with these functions and a line in `Executors`. All calls come from one thread, one at a
/// time, and may take their time; what waits, repeats and remembers is `JobDesk`.
protocol Executor: Sendable {
  /// For sentences, and for the plan: `slurm`.
  var name: String { get }

  /// Hands in a job, and returns what the cluster calls it.
  func submit(_ job: JobRequest) throws(ExecutorProblem) -> String

  /// What has become of jobs, in one question, by their keys. Without those that the cluster does not know.
  func reports(of jobs: [JobReference]) throws(ExecutorProblem) -> [String: JobReport]

  /// Ends jobs: asks them to end, or kills them. Those that have ended are no problem.
  func cancel(_ identifiers: [String], kills: Bool) throws(ExecutorProblem)
}

/// The executors that a plan can name.
enum Executors {
  /// No executor: a program of this machine.
  static let local = "local"
  static let names = ["slurm", local]

  /// nil for `local`.
  static func named(_ name: String) -> (any Executor)? {
    switch name {
    case "slurm": SlurmExecutor()
    default: nil
    }
  }
}

/// A job as the cluster gets it.
struct JobRequest: Sendable {
  /// Unlike that of any other job: by it the job is found when its identifier was not noted.
  let key: String
  /// That of the step.
  let name: String
  /// For `/bin/sh`. It writes its status into a file, see `JobFiles`.
  let script: String
  /// Where both of its streams go.
  let outputPath: String
  let directory: String
  let environment: [String: String]
  let processors: Int?
  /// In bytes.
  let memory: Int?
  /// What it may run for, so that the cluster ends it even if this process is gone.
  let timeout: Duration?
  /// Words for the cluster's command, as a shell reads them.
  let options: String?
}

/// A job that was handed in.
struct JobReference: Equatable, Sendable {
  let key: String
  /// nil when it is not known whether the cluster took it. Else the cluster has said it to this process, of the job
  /// with this key.
  var identifier: String?
}

/// What a cluster says of a job, and what it calls it.
struct JobReport: Equatable, Sendable {
  let identifier: String
  let state: JobState
}

enum JobState: Equatable, Sendable {
  /// In the line, and why, in the cluster's word; nil for the usual: others are before it.
  case waiting(because: String?)
  case running
  case ended(JobEnd)
}

enum JobEnd: Equatable, Sendable {
  /// Its command ended with this status.
  case status(Int32)
  /// It did not come to its end, or the cluster does not know; in its word.
  case lost(String)
}

/// Why a cluster's command did not do what it should.
struct ExecutorProblem: Error, Equatable {
  let sentence: String
  /// Whether it is worth to ask again.
  var isTransient = false
}
