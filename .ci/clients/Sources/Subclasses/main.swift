import Foundation
import Procedures
import ProceduresFoundation
import ProceduresNetwork
import ProceduresProcess
import ProceduresTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// Each open class of the package, subclassed through each of its initialisers by a class with a stored property
// that is assigned first. Where Swift takes a convenience initialiser for `super.init`, that compiles without a word
// and does not link.

final class Step: Procedure, @unchecked Sendable {
  let number: Int
  init(_ number: Int) {
    self.number = number
    super.init()
  }
  override func execute() { finish() }
}

// MARK: Groups

final class Steps: GroupProcedure, @unchecked Sendable {
  let steps: [Step]
  init(_ steps: [Step]) {
    self.steps = steps
    super.init(children: steps)
  }
  init(named steps: [Step]) {
    self.steps = steps
    super.init(name: "steps", children: steps)
  }
  init(maybeNamed steps: [Step]) {
    self.steps = steps
    super.init(name: nil, children: steps)
  }
  init(upcast steps: [Step]) {
    self.steps = steps
    super.init(children: steps as [Procedure])
  }
  init(upcastNamed steps: [Step]) {
    self.steps = steps
    super.init(name: "steps", children: steps as [Procedure])
  }
  init(unlabelled steps: [Step]) {
    self.steps = steps
    super.init(steps)
  }
  init(unlabelledNamed steps: [Step]) {
    self.steps = steps
    super.init(name: "steps", steps)
  }
  init(reversed steps: [Step]) {
    self.steps = steps
    super.init(children: steps.reversed())
  }
  init(_ first: Step, _ second: Step) {
    steps = [first, second]
    super.init(first, second)
  }
  init(named first: Step, _ second: Step) {
    steps = [first, second]
    super.init(name: "steps", first, second)
  }
  init(literal first: Step, _ second: Procedure) {
    steps = [first]
    super.init(children: [first, second])
  }
  init(built first: Step, _ second: Step) {
    steps = [first, second]
    super.init {
      first
      second
    }
  }
  init(builtNamed first: Step, _ second: Step) {
    steps = [first, second]
    super.init(name: "steps") {
      first.then(second)
    }
  }
  init(built first: Step) throws {
    steps = [first]
    func checked(_ step: Step) throws -> Step { step }
    try super.init { try checked(first) }
  }
  init(empty steps: [Step]) {
    self.steps = steps
    super.init(children: [])
    add(children: steps)
  }
  init(nothing steps: [Step]) {
    self.steps = steps
    super.init()
    add(children: steps)
  }
  init(onlyName steps: [Step]) {
    self.steps = steps
    super.init(name: "steps")
    add(children: steps)
  }
}

final class Composed: ComposedProcedure<Step>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(Step(1))
  }
  init(named label: String) {
    self.label = label
    super.init(name: label, Step(1))
  }
}

final class Gated: GatedProcedure<Step>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(Step(1)) { true }
  }
}

final class Ignoring: IgnoreErrorsProcedure<Step>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(Step(1))
  }
}

final class Batch: BatchProcedure<TransformProcedure<Int, Int>>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init { TransformProcedure { $0 + 1 } }
    input = [1]
  }
}

// MARK: Attempts

final class Polls: RepeatProcedure<Step>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(max: 3) { Step(1) }
  }
  init(statements label: String) {
    self.label = label
    super.init(max: 3, wait: .immediate) {
      let step = Step(1)
      step.priority = .high
      return step
    }
  }
  init(optional label: String) {
    self.label = label
    super.init(name: label) { () -> Step? in label.isEmpty ? Step(1) : nil }
  }
  init(iterator label: String) {
    self.label = label
    super.init(iterator: Payloads())
  }
  init(function label: String, _ make: @escaping @Sendable () -> Step) {
    self.label = label
    super.init(max: 2, body: make)
  }
  init(rate label: String) {
    self.label = label
    super.init(max: 2, every: .milliseconds(1), whenLate: .catchUp) { Step(1) }
  }
}

struct Payloads: IteratorProtocol, Sendable {
  var left = 2
  mutating func next() -> RepeatProcedurePayload<Step>? {
    left -= 1
    return left < 0 ? nil : RepeatProcedurePayload(procedure: Step(left))
  }
}

final class Tries: RetryProcedure<Step>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(max: 3) { Step(1) }
  }
  init(handled label: String) {
    self.label = label
    super.init(max: 3) {
      Step(1)
    } retry: { _, next in
      next
    }
  }
  init(optional label: String) {
    self.label = label
    super.init(name: label) { () -> Step? in Step(1) }
  }
  init(iterator label: String) {
    self.label = label
    super.init(iterator: Payloads())
  }
}

// MARK: Values

final class Blocks: BlockProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init {}
  }
  init(handed label: String) {
    self.label = label
    super.init(name: label) { procedure in _ = procedure.isCancelled }
  }
}

final class Result1: ResultProcedure<Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init { 1 }
  }
  init(handed label: String) {
    self.label = label
    super.init(name: label) { procedure in procedure.isCancelled ? 0 : 1 }
  }
}

final class Transforms: TransformProcedure<Int, Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init { $0 + 1 }
    input = 1
  }
  init(handed label: String) {
    self.label = label
    super.init(name: label) { procedure, input in procedure.isCancelled ? 0 : input }
    input = 1
  }
}

final class Maps: MapProcedure<Int, Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(source: [1]) { $0 + 1 }
  }
}

final class FlatMaps: FlatMapProcedure<Int, Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(source: [1]) { [$0, $0] }
  }
  init(optional label: String) {
    self.label = label
    super.init(source: [1]) { $0 > 0 ? $0 : nil }
  }
}

final class Filters: FilterProcedure<Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(source: [1]) { $0 > 0 }
  }
}

final class Reduces: ReduceProcedure<Int, Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(source: [1], initial: 0) { $0 + $1 }
  }
}

final class Identity: IdentityProcedure<Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init()
    input = 1
  }
}

final class Gathers: GatherProcedure<Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init([] as [ResultProcedure<Int>])
  }
  init(named label: String) {
    self.label = label
    super.init(name: label, [] as Set<ResultProcedure<Int>>)
  }
  init(several label: String) {
    self.label = label
    super.init(name: label, [] as [any OutputProcedure<Int>])
  }
}

final class Races: RaceProcedure<Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init([ResultProcedure { 1 }, ResultProcedure { 2 }])
  }
  init(named label: String) {
    self.label = label
    super.init(name: label, [ResultProcedure { 1 }] as Set<ResultProcedure<Int>>)
  }
  init(several label: String) {
    self.label = label
    super.init(name: label, [ResultProcedure { 1 }] as [any OutputProcedure<Int>])
  }
}

// MARK: Async

final class Asyncs: AsyncProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init { await Task.yield() }
  }
  init(handed label: String) {
    self.label = label
    super.init { procedure in
      await Task.yield()
      _ = procedure.isCancelled
    }
  }
  init(callback label: String) {
    self.label = label
    super.init(.callback) { finish in finish() }
  }
}

final class MainActors: MainActorProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init { await Task.yield() }
  }
}

final class AsyncResults: AsyncResultProcedure<Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init {
      await Task.yield()
      return 1
    }
  }
  init(handed label: String) {
    self.label = label
    super.init(name: label) { procedure in
      await Task.yield()
      return procedure.isCancelled ? 0 : 1
    }
  }
  init(function label: String, _ body: @escaping @Sendable () async throws -> Int) {
    self.label = label
    super.init(body)
  }
  init(callback label: String) {
    self.label = label
    super.init(.callback) { finish in finish(.success(1)) }
  }
}

final class AsyncTransforms: AsyncTransformProcedure<Int, Int>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init { input in
      await Task.yield()
      return input
    }
    input = 1
  }
  init(handed label: String) {
    self.label = label
    super.init { procedure, input in
      await Task.yield()
      return procedure.isCancelled ? 0 : input
    }
    input = 1
  }
  init(callback label: String) {
    self.label = label
    super.init(.callback) { input, finish in finish(.success(input)) }
    input = 1
  }
}

// MARK: Time

final class Delays: DelayProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(by: .zero)
  }
  init(seconds label: String) {
    self.label = label
    super.init(by: 0.001)
  }
  init(until label: String) {
    self.label = label
    super.init(until: .now)
  }
  init(date label: String) {
    self.label = label
    super.init(name: label, until: Date())
  }
}

final class Manuals: ManualProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(name: label)
  }
}

// MARK: Programs

final class Programs: ProcessProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init("true")
  }
  init(arguments label: String) {
    self.label = label
    super.init("true", arguments: ["-a"]) { $0.directory = "/" }
  }
  init(configuration label: String) {
    self.label = label
    super.init(ProcessConfiguration(program: "true"))
  }
}

final class Pipelines: ProcessPipeline, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(ProcessProcedure("true"), ProcessProcedure("true"))
  }
  init(list label: String) {
    self.label = label
    super.init([ProcessProcedure("true")])
  }
}

// MARK: The network: nothing is sent, they are cancelled before.

let nowhere = URL(string: "http://127.0.0.1:1/")!

final class Fetches: NetworkDataProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(url: nowhere)
  }
  init(request label: String) {
    self.label = label
    super.init(name: label, request: URLRequest(url: nowhere))
  }
  init(nothing label: String) {
    self.label = label
    super.init()
  }
}

final class Downloads: NetworkDownloadProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init(url: nowhere)
  }
  init(request label: String) {
    self.label = label
    super.init(request: URLRequest(url: nowhere), to: URL(filePath: "/tmp/nothing"))
  }
}

final class Uploads: NetworkUploadProcedure, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init()
  }
  init(body label: String) {
    self.label = label
    super.init(request: URLRequest(url: nowhere), body: .data(Data()))
  }
}

final class Networks: NetworkProcedure<NetworkDataProcedure>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init { NetworkDataProcedure(url: nowhere) }
  }
  init(resilience label: String) {
    self.label = label
    super.init(name: label, resilience: NetworkResilience()) {
      let fetch = NetworkDataProcedure(url: nowhere)
      fetch.priority = .high
      return fetch
    }
  }
}

final class Decodes: DecodeJSONProcedure<[Int]>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init()
    input = Data("[1]".utf8)
  }
}

final class Encodes: EncodeJSONProcedure<[Int]>, @unchecked Sendable {
  let label: String
  init(label: String) {
    self.label = label
    super.init([1])
  }
}

// MARK: -

func few() -> [Step] { [Step(1), Step(2)] }
func two<Made>(_ make: (Step, Step) -> Made) -> Made { make(Step(1), Step(2)) }

let ran: [Procedure] = [
  Steps(few()), Steps(named: few()), Steps(maybeNamed: few()), Steps(upcast: few()),
  Steps(upcastNamed: few()), Steps(unlabelled: few()), Steps(unlabelledNamed: few()),
  Steps(reversed: few()), two { Steps($0, $1) }, two { Steps(named: $0, $1) },
  two { Steps(literal: $0, $1) }, two { Steps(built: $0, $1) }, two { Steps(builtNamed: $0, $1) },
  try Steps(built: Step(1)), Steps(empty: few()), Steps(nothing: few()), Steps(onlyName: few()),
  Composed(label: "a"), Composed(named: "a"), Gated(label: "a"), Ignoring(label: "a"),
  Batch(label: "a"),
  Polls(label: "a"), Polls(statements: "a"), Polls(optional: "a"), Polls(iterator: "a"),
  Polls(function: "a") { Step(1) }, Polls(rate: "a"),
  Tries(label: "a"), Tries(handled: "a"), Tries(optional: "a"), Tries(iterator: "a"),
  Blocks(label: "a"), Blocks(handed: "a"), Result1(label: "a"), Result1(handed: "a"),
  Transforms(label: "a"), Transforms(handed: "a"), Maps(label: "a"), FlatMaps(label: "a"),
  FlatMaps(optional: "a"), Filters(label: "a"), Reduces(label: "a"), Identity(label: "a"),
  Gathers(label: "a"), Gathers(named: "a"), Gathers(several: "a"),
  Races(label: "a"), Races(named: "a"), Races(several: "a"),
  Asyncs(label: "a"), Asyncs(handed: "a"), Asyncs(callback: "a"), MainActors(label: "a"),
  AsyncResults(label: "a"), AsyncResults(handed: "a"), AsyncResults(function: "a") { 1 },
  AsyncResults(callback: "a"), AsyncTransforms(label: "a"), AsyncTransforms(handed: "a"),
  AsyncTransforms(callback: "a"),
  Delays(label: "a"), Delays(seconds: "a"), Delays(until: "a"), Delays(date: "a"),
  Programs(label: "a"), Programs(arguments: "a"), Programs(configuration: "a"),
  Pipelines(label: "a"), Pipelines(list: "a"), Decodes(label: "a"), Encodes(label: "a"),
]
let cancelled: [Procedure] = [
  Manuals(label: "a"), Fetches(label: "a"), Fetches(request: "a"), Fetches(nothing: "a"),
  Downloads(label: "a"), Downloads(request: "a"), Uploads(label: "a"), Uploads(body: "a"),
  Networks(label: "a"), Networks(resilience: "a"),
]
for procedure in cancelled { procedure.cancel() }
let queue = ProcedureQueue()
queue.add(ran + cancelled)
for procedure in ran {
  let outcome = await procedure.waitUntilFinished()
  if !outcome.isSuccess { fatalError("\(type(of: procedure)) ended \(outcome)") }
}
for procedure in cancelled {
  let outcome = await procedure.waitUntilFinished()
  if outcome != .cancelled([]) { fatalError("\(type(of: procedure)) ended \(outcome)") }
}
print("\(ran.count + cancelled.count) subclasses")
