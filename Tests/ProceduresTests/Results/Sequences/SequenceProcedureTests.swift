import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct SequenceProcedureTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("map, flat map, filter and reduce work on a source of their own, in its order")
  func ownSources() throws {
    let map = MapProcedure(source: [1, 2, 3]) { $0 * 2 }
    let flatMap = FlatMapProcedure(source: [1, 2, 3]) { Array(repeating: $0, count: $0) }
    let compactMap = FlatMapProcedure(source: ["1", "x", "3"]) { Int($0) }
    let filter = FilterProcedure(source: [1, 2, 3, 4]) { $0.isMultiple(of: 2) }
    let reduce = ReduceProcedure(source: ["a", "b"], initial: 0) { sum, text in sum + text.count }
    makeQueue().add(map, flatMap, compactMap, filter, reduce)
    scheduler.run()
    #expect(try map.output?.get() == [2, 4, 6])
    #expect(try flatMap.output?.get() == [1, 2, 2, 3, 3, 3])
    #expect(try compactMap.output?.get() == [1, 3])
    #expect(try filter.output?.get() == [2, 4])
    #expect(try reduce.output?.get() == 2)
  }

  @Test("R1: sequence procedures of an output procedure get its output, of any sequence type")
  func spelledOnTheSource() throws {
    let queue = makeQueue()
    let numbers = ResultProcedure { [3, 1, 2] }
    let set = ResultProcedure { Set([1, 2, 3]) }
    let map = numbers.map { "\($0)" }
    let flatMap = numbers.flatMap { [$0, $0] }
    let compactMap = numbers.flatMap { $0 == 1 ? nil : $0 }
    let filter = numbers.filter { $0 > 1 }
    let reduce = set.reduce(0) { $0 + $1 }
    let chained = numbers.map { $0 + 1 }
    let sum = chained.reduce(0) { $0 + $1 }
    queue.add(sum, map, flatMap, compactMap, filter, reduce, chained)
    #expect(map.dependencies == [numbers])
    queue.add(numbers, set)
    scheduler.run()
    #expect(try map.output?.get() == ["3", "1", "2"])
    #expect(try flatMap.output?.get() == [3, 3, 1, 1, 2, 2])
    #expect(try compactMap.output?.get() == [3, 2] && filter.output?.get() == [3, 2])
    #expect(try reduce.output?.get() == 6 && sum.output?.get() == 9)
  }

  @Test(
    "a sequence procedure fails by a throw or without a source, and is cancelled by a failed source"
  )
  func failures() {
    let queue = makeQueue()
    let throwing = MapProcedure(source: [1]) { (_: Int) -> Int in throw TestError("e") }
    let broken = ResultProcedure<[Int]> { throw TestError("broken") }
    broken.name = "numbers"
    let mapped = broken.map { $0 }
    let empty = FilterProcedure<Int> { _ in true }
    queue.add(throwing, broken, mapped, empty)
    scheduler.run()
    #expect(throwing.outcome == .failed([TestError("e")]))
    #expect(
      mapped.outcome?.deep == .cancelled([.dependencyFailed("numbers", TestError("broken"))]))
    #expect((empty.errors.first as? ProcedureError)?.code == .requirementNotSatisfied)
  }

  @Test("a cancel ends them between two elements")
  func cancelled() {
    let seen = Recorder<Int>()
    let itself = Recorder<Procedure>()
    let procedure = MapProcedure(source: Array(1...100)) { (number: Int) -> Int in
      if number == 3 { itself.events[0].cancel() }
      seen.note(number)
      return number
    }
    itself.note(procedure)
    makeQueue().add(procedure)
    scheduler.run()
    #expect(seen.events == [1, 2, 3])
    #expect(procedure.outcome == .cancelled([]))
    #expect(procedure.output == nil)
  }
}
