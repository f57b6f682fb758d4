// Does one kind of work a number of times, to be counted: `Costs CASE COUNT`. See `.ci/cost`.

let all = cases.merging(operationCases) { work, _ in work }
let arguments = CommandLine.arguments
guard arguments.count == 3, let work = all[arguments[1]], let count = Int(arguments[2]) else {
  fatalError("Usage: Costs CASE COUNT, where CASE is one of \(all.keys.sorted())")
}
work(count)
