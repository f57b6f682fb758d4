@testable import Procedures
import ProcedureTestSupport
import Testing

/// Dependencies that are taken back, few and many.
@Suite(.hangLimit) struct ManyDependenciesTests {
  private let scheduler = ManualScheduler()

  private func make(_ count: Int) -> [Procedure] { (0..<count).map { _ in BlockProcedure {} } }

  @Test(
    "dependencies that are removed anywhere, and added again, stay in order, and the last one is waited for"
  )
  func order() {
    for count in [3, 31, 32, 33, 34, 200] {
      for isEnqueuedFirst in [false, true] {
        var generator = SimulationGenerator(seed: UInt64(count))
        let queue = ProcedureQueue(scheduler: scheduler)
        let procedure = TracedProcedure()
        var expected = make(count)
        if isEnqueuedFirst {
          queue.isSuspended = true
          queue.add(procedure)
        }
        procedure.add(dependencies: expected)
        for _ in 0..<count / 2 {
          let index = Int.random(in: expected.indices, using: &generator)
          procedure.remove(dependency: expected.remove(at: index))
        }
        #expect(procedure.dependencies == expected)
        let (twice, last) = (expected[0], make(3))
        procedure.add(dependency: twice)
        procedure.add(dependencies: last)
        for dependency in last.dropFirst() { procedure.remove(dependency: dependency) }
        procedure.remove(dependency: twice)
        expected.removeFirst()
        expected.append(last[0])
        #expect(procedure.dependencies == expected)
        if !isEnqueuedFirst { queue.add(procedure) }
        queue.isSuspended = false
        queue.add(expected.dropLast())
        scheduler.run()
        #expect(procedure.isPending)
        procedure.remove(dependency: last[0])
        scheduler.run()
        #expect(
          procedure.isFinished && !procedure.isCancelled && queue.count == 0,
          "\(count) \(isEnqueuedFirst) \(procedure) \(queue.snapshot())")
      }
    }
  }

  @Test("R1: many dependencies that hand a value over take linear time", arguments: [true, false])
  func handOvers(isInOrder: Bool) async {
    let count = Rounds.size(100_000, otherwise: 2_000)
    await onThreadOfItsOwn {
      let queue = ProcedureQueue(scheduler: scheduler)
      // It would look through all of them each time that nothing is left to run.
      queue.disableWaitWatch()
      let sources = (0..<count).map { number in ResultProcedure { number } }
      let target = TransformProcedure<Int, Int> { $0 }
      for source in sources { target.injectResult(from: source) }
      queue.add(target)
      for source in isInOrder ? sources : sources.reversed() {
        queue.add(source)
        scheduler.run()
      }
      precondition((try? target.output?.get()) == (isInOrder ? count - 1 : 0))
      precondition(target.dependencies.isEmpty)
    }
  }

  @Test("R1: dependencies that hand a value over may be added in turn with others that are removed")
  func handOversAndRemovals() async {
    let count = Rounds.size(1_000, otherwise: 400)
    await onThreadOfItsOwn {
      for isByClosure in [false, true] {
        let queue = ProcedureQueue(scheduler: scheduler)
        // It would look through all of them each time that nothing is left to run.
        queue.disableWaitWatch()
        let sources = (0..<2 * count).map { number in ResultProcedure { number } }
        let target = TransformProcedure<Int, Int> { $0 }
        for source in sources {
          if isByClosure {
            target.inject(dependency: source) { target, source, _ in
              target.input = try? source.output?.get()
            }
          } else {
            target.injectResult(from: source)
          }
        }
        queue.add(target)
        for index in 0..<count {
          target.remove(dependency: sources[index])
          queue.add(sources[count + index])
          scheduler.run()
        }
        precondition((try? target.output?.get()) == 2 * count - 1 && target.dependencies.isEmpty)
      }
    }
  }

  @Test(
    "many dependencies are removed in linear time, from either end, before and after the enqueue")
  func growth() async {
    let count = Rounds.size(2_000, otherwise: 1_000)
    await onThreadOfItsOwn {
      for (isReversed, isEnqueuedFirst) in [(true, true), (false, false), (true, false)] {
        let queue = ProcedureQueue(scheduler: scheduler)
        let procedure = TracedProcedure()
        if isEnqueuedFirst {
          queue.isSuspended = true
          queue.add(procedure)
        }
        let dependencies = make(count)
        procedure.add(dependencies: dependencies)
        for dependency in isReversed ? dependencies.reversed() : dependencies {
          procedure.remove(dependency: dependency)
        }
        // In turn with others that are added.
        procedure.add(dependencies: dependencies)
        for index in 0..<count / 2 {
          procedure.remove(dependency: dependencies[index])
          procedure.add(dependency: dependencies[index])
        }
        for dependency in dependencies { procedure.remove(dependency: dependency) }
        queue.isSuspended = false
        if !isEnqueuedFirst { queue.add(procedure) }
        scheduler.run()
        precondition(procedure.isFinished && !procedure.isCancelled)
      }
    }
  }
}
