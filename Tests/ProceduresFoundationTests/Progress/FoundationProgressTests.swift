import Foundation
import ProcedureTestSupport
@testable import ProceduresFoundation
import Synchronization
import Testing

@Suite(.hangLimit) struct FoundationProgressTests {
  private let queue = ProcedureQueue()

  private func waiting(_ name: String = "p", weight: Double = 1) -> TracedProcedure {
    let procedure = TracedProcedure(name, end: .whenToldOrCancelled)
    procedure.progressWeight = weight
    return procedure
  }

  /// Foundation tells of no change on Linux, so that there is nothing to wait for but time.
  private func reaches(_ fraction: Double, _ progress: Progress) async -> Bool {
    await eventually { abs(progress.fractionCompleted - fraction) <= 0.000_01 }
  }

  @Test("I2: a procedure's progress has its fraction, and has finished before a wait returns")
  func fraction() async {
    let procedure = waiting()
    procedure.report(fractionCompleted: 0.25)
    let progress = procedure.progress
    #expect(progress === procedure.progress)
    #expect(progress.fractionCompleted == 0.25 && progress.isCancellable && !progress.isPausable)
    let executing = execution(of: procedure)
    queue.add(procedure)
    procedure.report(fractionCompleted: 0.75)
    #expect(await reaches(0.75, progress))
    await executing.wait()
    procedure.finish()
    _ = await procedure.waitUntilFinished()
    #expect(progress.isFinished && progress.fractionCompleted == 1 && !progress.isCancelled)
    #expect(procedure.progress === progress)
    #expect(BlockProcedure {}.progress.fractionCompleted == 0)
  }

  @Test("I2: no number stops the program, as total or as completed count")
  func anyCount() async {
    await #expect(processExitsWith: .success) {
      for number in [0, -1, Int64.min, .max] {
        let procedure = BlockProcedure {}
        let whole = Progress(totalUnitCount: 10)
        whole.addChild(procedure.progress, withPendingUnitCount: 9)
        procedure.progress.totalUnitCount = number
        procedure.progress.completedUnitCount = number
        precondition((0...1).contains(procedure.progress.fractionCompleted))
        ProcedureQueue().add(procedure)
        await procedure.waitUntilFinished()
        precondition(procedure.progress.isFinished)
      }
    }
  }

  @Test("I2: a procedure that counts its own units reports them")
  func unitCounts() async {
    let procedure = waiting()
    let progress = procedure.progress
    progress.totalUnitCount = 8
    progress.completedUnitCount = 2
    #expect(procedure.fractionCompleted == 0.25 && progress.fractionCompleted == 0.25)
    procedure.report(fractionCompleted: 0.5)
    #expect(await reaches(0.5, progress))
    #expect(progress.completedUnitCount == 4)
    // There and back before the change is seen, which is a change all the same.
    for _ in 0..<200 {
      progress.completedUnitCount = 0
      procedure.report(fractionCompleted: 0.5)
      #expect(await reaches(0.5, progress))
    }
  }

  @Test("I2: groups of groups are one progress, and several are a Foundation tree")
  func trees() async {
    let (first, deep, other) = (waiting(weight: 3), waiting(), waiting())
    let group = GroupProcedure(first, GroupProcedure(deep))
    let whole = Progress(totalUnitCount: 10)
    whole.addChild(group.progress, withPendingUnitCount: 8)
    whole.addChild(other.progress, withPendingUnitCount: 2)
    let executing = [first, deep, other].map { execution(of: $0) }
    queue.add(group, other)
    for gate in executing { await gate.wait() }
    deep.report(fractionCompleted: 0.5)
    #expect(await reaches(0.1, whole))
    first.finish()
    #expect(await reaches(0.7, whole))
    deep.finish()
    other.finish()
    await queue.waitUntilAllFinished()
    #expect(whole.isFinished && whole.fractionCompleted == 1)
  }

  @Test("I2: a hundred procedures that report at once leave a sound tree")
  func concurrentReports() async {
    let whole = Progress(totalUnitCount: 100)
    let procedures = (0..<100).map { _ in
      AsyncProcedure { procedure in
        for step in 1...20 { procedure.report(fractionCompleted: Double(step) / 20) }
      }
    }
    for procedure in procedures { whole.addChild(procedure.progress, withPendingUnitCount: 1) }
    queue.add(procedures)
    await queue.waitUntilAllFinished()
    #expect(whole.isFinished && whole.completedUnitCount == 100)
    #expect(whole.fractionCompleted == 1)
  }

  @Test("I2: a cancel goes both ways, also from a parent")
  func cancels() async {
    let (first, second, third) = (waiting(), waiting(), waiting())
    let whole = Progress(totalUnitCount: 1)
    whole.addChild(first.progress, withPendingUnitCount: 1)
    queue.add(first, second, third)
    whole.cancel()
    #expect(await first.waitUntilFinished().isCancelled)
    let progress = second.progress
    second.cancel()
    #expect(progress.isCancelled)
    third.progress.cancel()
    #expect(third.isCancelled)
    await queue.waitUntilAllFinished()
    #expect(whole.isFinished && progress.isFinished)
    let cancelled = waiting()
    cancelled.cancel()
    #expect(cancelled.progress.isCancelled)
  }

  @Test("I2: a group is paused and resumed by its progress, and shows it")
  func pausing() async {
    let child = BlockProcedure {}
    let group = GroupProcedure(child)
    let progress = group.progress
    #expect(progress.isPausable && !progress.isPaused)
    progress.pause()
    #expect(group.isSuspended && progress.isPaused)
    queue.add(group)
    progress.resume()
    #expect(!group.isSuspended && !progress.isPaused)
    #expect(await group.waitUntilFinished().isSuccess)
    group.isSuspended = true
    #expect(progress.isPaused)
  }

  @Test("I2: the last of a pause and a resume, one right after the other, counts")
  func pausingQuickly() async {
    for _ in 0..<Rounds.few * 10 {
      let group = GroupProcedure(BlockProcedure {})
      let (progress, ofQueue) = (group.progress, queue.progress)
      progress.pause()
      progress.resume()
      ofQueue.pause()
      ofQueue.resume()
      queue.add(group)
      #expect(await group.waitUntilFinished().isSuccess)
    }
  }

  @Test("I2: a procedure that is added after the cancel of a queue's progress is not cancelled")
  func addedAfterCancel() async {
    for _ in 0..<Rounds.few {
      let queue = ProcedureQueue()
      queue.progress.cancel()
      for _ in 0..<10 { #expect(await queue.run(BlockProcedure {}).isSuccess) }
    }
  }

  @Test("I2: a queue counts what it has and what is added, and is paused and cancelled")
  func queues() async {
    queue.isSuspended = true
    let first = waiting()
    queue.add(first)
    let progress = queue.progress
    #expect(progress === queue.progress && progress.totalUnitCount == 1)
    #expect(progress.isPaused && progress.isPausable)
    queue.add(BlockProcedure {}, waiting())
    #expect(progress.totalUnitCount == 3 && progress.completedUnitCount == 0)
    let executing = execution(of: first)
    progress.resume()
    #expect(!queue.isSuspended)
    await executing.wait()
    first.finish()
    _ = await first.waitUntilFinished()
    #expect(await reaches(2 / 3, progress))
    progress.cancel()
    await queue.waitUntilAllFinished()
    #expect(progress.isFinished && progress.completedUnitCount == 3)
    queue.add(waiting())
    #expect(progress.totalUnitCount == 4 && !progress.isFinished)
  }

  @Test("I2: a procedure takes over a Foundation progress, its fraction and a cancel of either")
  func followed() async {
    let procedure = waiting()
    let work = Progress(totalUnitCount: 4)
    work.completedUnitCount = 1
    procedure.report(work)
    #expect(procedure.fractionCompleted == 0.25)
    queue.add(procedure)
    work.completedUnitCount = 2
    for await fraction in procedure.progressUpdates where fraction == 0.5 { break }
    procedure.cancel()
    #expect(work.isCancelled)
    #expect(await procedure.waitUntilFinished().isCancelled)

    let other = waiting()
    let otherWork = Progress(totalUnitCount: 1)
    other.report(otherWork)
    queue.add(other)
    otherWork.cancel()
    #expect(await other.waitUntilFinished().isCancelled)
  }

  @Test("I2: units that are no number, none at all and too many end within 0 and 1")
  func extremes() async {
    let following = waiting()
    following.report(Progress(totalUnitCount: 0))
    #expect((0...1).contains(following.fractionCompleted))
    let procedure = waiting()
    let progress = procedure.progress
    progress.completedUnitCount = .max
    #expect(procedure.fractionCompleted == 1)
    progress.completedUnitCount = -5
    #expect(procedure.fractionCompleted == 0)
    progress.totalUnitCount = 1 << 40
    procedure.report(fractionCompleted: 1)
    #expect(await reaches(1, progress))
    queue.add(procedure)
    procedure.cancel()
    #expect(await procedure.waitUntilFinished().isCancelled)
  }

  @Test("I2: a progress is released with its last reference, and the procedure with it")
  func memory() async {
    weak var released: Progress?
    weak var procedure: Procedure?
    do {
      let made = waiting()
      released = made.progress
      made.report(Progress(totalUnitCount: 1))
      procedure = made
    }
    #expect(await eventually { released == nil && procedure == nil })
    do {
      weak let queueProgress = ProcedureQueue().progress
      #expect(await eventually { queueProgress == nil })
    }
  }

  @Test("I2: the last of several changes remains that overtake each other without a lock")
  func overtaken() async {
    for _ in 0..<20 {
      // As on Apple's platforms, where Foundation calls observers while a unit count is set.
      let (isSo, isShown) = (Counter(), Counter())
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<Rounds.few {
              isSo.value.wrappingAdd(1, ordering: .relaxed)
              setLatest({ isSo.value.load(ordering: .sequentiallyConsistent) }) { value in
                isShown.value.store(value, ordering: .sequentiallyConsistent)
              }
            }
          }
        }
      }
      #expect(isShown.value.load(ordering: .relaxed) == 4 * Rounds.few)
    }
  }

  @Test(
    "I2: a progress has finished before a wait returns, although others show an earlier fraction meanwhile"
  )
  func overtakenByFinish() async {
    for _ in 0..<Rounds.few {
      let procedure = waiting()
      let progress = procedure.progress
      let executing = execution(of: procedure)
      queue.add(procedure)
      await executing.wait()
      await withTaskGroup { group in
        for _ in 0..<3 {
          group.addTask {
            // Each shows the fraction.
            for _ in 0..<100 { progress.totalUnitCount = 1_000_000 }
          }
        }
        group.addTask {
          procedure.finish()
          await procedure.waitUntilFinished()
          #expect((0..<100).allSatisfy { _ in progress.isFinished })
        }
      }
      #expect(progress.isFinished && progress.completedUnitCount == 1_000_000)
    }
  }

  private final class Counter: Sendable {
    let value = Atomic(0)
  }
}
