import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ChildFailureRaceTests {
  /// Counts what it hears, and never at the same time as anything else of it.
  private final class Hearing: GroupProcedure, @unchecked Sendable {
    let inside = Counter()
    let heard = Recorder<Procedure>()

    override func child(
      _ child: Procedure, willFinishWithErrors errors: [any Error]
    ) -> [any Error] {
      inside.increment()
      heard.note(child)
      inside.decrement()
      return errors
    }

    override func procedureDidCancel(withErrors errors: [any Error]) {
      inside.increment()
      inside.decrement()
    }
  }

  /// ```
  /// worker 1              worker 2              thread
  /// child 1 will finish   child 2 will finish   group.cancel
  ///   ask the group         ask the group         mark, deliver
  ///     hear child 1          wait                  the group's turn is held
  ///     hear child 2
  /// ```
  @Test(
    "G7: a group decides about every child once, whatever finishes, fails, is added or cancelled meanwhile"
  )
  func everyChildOnce() async {
    let queue = ProcedureQueue()
    for round in 0..<Rounds.few {
      let children = (0..<8).map { index in
        TracedProcedure(
          "\(index)", end: index % 2 == 0 ? .itself : .whenToldOrCancelled,
          failure: index == 4 ? TestError("4") : nil)
      }
      let group = Hearing(children: children)
      if round % 3 == 0 { group.failurePolicy = .cancelRemaining }
      let added = TracedProcedure("added", end: .whenToldOrCancelled)
      let accepted = Recorder<Bool>()
      queue.add(group)
      await race(
        { if round % 2 == 0 { group.cancel(withErrors: [TestError("stop")]) } },
        { accepted.note(group.add(child: added)) },
        { for child in children where child.name != "4" { child.finish() } })
      for child in children + [added] {
        // Refused before it started: those are told again, until they have.
        while !child.isFinished {
          if child.name != "4" { child.finish() }
          await Task.yield()
        }
      }
      let outcome = await group.waitUntilFinished()
      let heard = group.heard.events
      #expect(heard.count == Set(heard).count && group.inside.highest <= 1)
      #expect(Set(heard) == Set(group.children), "round \(round): \(outcome)")
      #expect(accepted.events == [group.children.contains(added)])
      #expect(group.children.allSatisfy { $0.isFinished })
      // A group that is cancelled first hears of no failure but its own.
      if round % 2 == 1 { #expect(outcome.deep == .failed([.child("4", TestError("4"))])) }
    }
  }
}
