// Does one kind of work a number of times, to be counted: `Costs CASE COUNT`. See `.ci/cost`.

let arguments = CommandLine.arguments
guard arguments.count == 3, let work = cases[arguments[1]], let count = Int(arguments[2]) else {
  fatalError("Usage: Costs CASE COUNT, where CASE is one of \(cases.keys.sorted())")
}
work(count)
