/// `swift run -c release benchmarks [filter]`: what things cost beside what else does them.
@main
struct Benchmarks {
  static func main() async {
    let filter = CommandLine.arguments.dropFirst().first ?? ""
    let contests = [
      Contest.noOperation, .chain, .conditions, .exclusion, .watching, .asynchronous, .injection,
    ]
    for contest in contests where contest.name.contains(filter) {
      await contest.run(rounds: 9)
    }
    if "tokens".contains(filter) { await runTokenBenchmarks() }
  }
}
