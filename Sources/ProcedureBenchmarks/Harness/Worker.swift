internal import Foundation

/// Each contest runs in a process of its own, so that none finds what others have left behind: a
/// heap in pieces, threads that a pool has grown, timers that are still to fire.
enum Worker {
  /// Runs a contest in a new process. Throws if that does not end well.
  static func run(_ contest: Contest, _ options: Options) throws(UsageError) -> ContestResult {
    let worker = Process()
    worker.executableURL = Bundle.main.executableURL
    worker.arguments =
      ["--worker", contest.name] + (options.isQuick ? ["--quick"] : rounds(options))
    let output = Pipe()
    worker.standardOutput = output
    do {
      try worker.run()
      let data = try output.fileHandleForReading.readToEnd() ?? Data()
      worker.waitUntilExit()
      let samples = try JSONDecoder().decode(Samples.self, from: data)
      return ContestResult(contest: contest, measured: samples)
    } catch {
      throw UsageError("the process of the case '\(contest.name)' did not end well: \(error)")
    }
  }

  /// What that process does: one contest, whose samples it prints.
  static func work(on name: String, _ options: Options) async throws(UsageError) -> Data {
    guard let contest = Contest.all.first(where: { $0.name == name }) else {
      throw UsageError("there is no case '\(name)'; '--list' prints the names")
    }
    let samples = await contest.run(rounds: options.rounds, divisor: options.divisor)
    do {
      return try JSONEncoder().encode(samples)
    } catch {
      throw UsageError("the samples of '\(name)' cannot be written: \(error)")
    }
  }

  private static func rounds(_ options: Options) -> [String] { ["--rounds", "\(options.rounds)"] }
}
