import Dispatch
import Foundation
import Procedures

// The storm of Tests/StormTests as a program, for `.ci/chaos`. The main thread serves the main queue.

/// At once, since the program may crash.
@Sendable func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

/// Ends the program, and says what may be given.
func usage(_ message: String) -> Never {
  let text = """
    \(message)
    storm [--seed N] [--rounds N] [--seconds N] [--lanes N] [--patience N]
          [--keep-going] [--signals]
      --seed      of the first round; 0 unless you say another
      --rounds    how many at most
      --seconds   for how long at most; 60 unless you say otherwise, for ever if there are --rounds
      --lanes     how many rounds at a time; 4 unless you say otherwise
      --keep-going  does not end with the first round that finds something
      --patience  the seconds after which a round hangs; 1200 unless you say otherwise
      --signals   interrupts every thread at random moments (Linux)

    """
  FileHandle.standardError.write(Data(text.utf8))
  exit(2)
}

var seed: UInt64 = 0
var rounds: UInt64?
var seconds: Double?
var lanes = 4
var keepsGoing = false
var options = StormRound.Options()
var hasSignals = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
  func number() -> UInt64 {
    guard let text = arguments.popFirst(), let number = UInt64(text) else {
      usage("storm: \(argument) takes a number")
    }
    return number
  }
  switch argument {
  case "--seed": seed = number()
  case "--rounds": rounds = number()
  case "--seconds": seconds = Double(number())
  case "--lanes": lanes = max(1, Int(number()))
  case "--keep-going": keepsGoing = true
  case "--patience": options.patience = .seconds(Int64(number()))
  case "--signals": hasSignals = true
  default: usage("storm: what is '\(argument)'?")
  }
}
if hasSignals { interruptEveryThread() }

let time = Duration.seconds(seconds ?? (rounds == nil ? 60 : 1_000_000))
let last = rounds.map { seed + $0 } ?? .max
let storm = StormLanes(seeds: seed..<last, time: time, options: options, keepsGoing: keepsGoing)
let laneCount = lanes
ProcedureQueue.main.diagnosticsHandler = { _ in }
Thread.detachNewThread {
  // A crash says no seed: this says which it was near.
  let failures = storm.run(laneCount, say)
  say("storm: \(storm.roundCount) rounds")
  exit(failures.isEmpty ? 0 : 1)
}
dispatchMain()
