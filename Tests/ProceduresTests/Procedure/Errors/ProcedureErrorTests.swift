import Procedures
import ProcedureTestSupport
import Testing

extension ProcedureError.Code {
  fileprivate static let quotaExceeded = Self(rawValue: "quotaExceeded")
}

@Suite(.hangLimit) struct ProcedureErrorTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("E1: errors are equal by code and name, whatever is behind them")
  func equality() {
    let error = ProcedureError(.child, procedure: "a", underlyingErrors: [TestError("e")])
    #expect(error == ProcedureError(.child, procedure: "a", message: "other words"))
    #expect(error != ProcedureError(.child, procedure: "b"))
    #expect(error != ProcedureError(.child))
    #expect(error != ProcedureError(.timedOut, procedure: "a"))
    #expect(Set([error, ProcedureError(.child, procedure: "a")]).count == 1)
  }

  @Test(
    "E1: a code is matched by its name, in a catch and in a case, and you can make your own")
  func matching() {
    func kind(_ error: any Error) -> String {
      do {
        throw error
      } catch let error as ProcedureError where error.code == .timedOut {
        return "timed out: \(error.procedure!)"
      } catch ProcedureError.Code.deadlineExceeded {
        return "deadline"
      } catch {
        switch error {
        case ProcedureError.Code.quotaExceeded: return "quota"
        default: return "other"
        }
      }
    }
    #expect(kind(ProcedureError(.timedOut, procedure: "p")) == "timed out: p")
    #expect(kind(ProcedureError(.deadlineExceeded)) == "deadline")
    #expect(kind(ProcedureError(.quotaExceeded)) == "quota")
    #expect(kind(ProcedureError(.child)) == "other" && kind(TestError()) == "other")
    #expect(ProcedureError.Code(rawValue: "timedOut") == .timedOut)
    #expect("\(ProcedureError.Code.queueClosed)" == "queueClosed")
  }

  private static let codes: [ProcedureError.Code] = [
    .timedOut, .deadlineExceeded, .parentCancelled, .siblingFailed, .groupFinished, .queueClosed,
    .child, .dependencyFailed, .dependencyCancelled, .requirementNotSatisfied, .conditionFailed,
    .dependencyCycle, .finishDropped, .notImplemented, .notEnqueued, .quotaExceeded,
  ]

  @Test(
    "E1: each error reads as a sentence, with and without a name and an underlying error")
  func sentences() {
    for code in Self.codes {
      for name in ["upload", nil] {
        for errors in [[TestError("broken")], []] {
          let text = "\(ProcedureError(code, procedure: name, underlyingErrors: errors))"
          #expect(text.first!.isUppercase || text.hasPrefix("'"), "\(text)")
          #expect(text.hasSuffix(".") || text.hasSuffix(": broken"), "\(text)")
          #expect(!text.contains("  ") && !text.contains(" ."), "\(text)")
          if name != nil, code != .dependencyCycle { #expect(text.contains("'upload'"), "\(text)") }
        }
      }
      let own = ProcedureError(code, procedure: "upload", message: "The battery is low.")
      #expect("\(own)" == "The battery is low.")
    }
    #expect(
      "\(ProcedureError(.quotaExceeded, procedure: "upload"))" == "'upload' reports quotaExceeded.")
  }

  @Test("E1: an error knows how long, which waits for which, or which condition")
  func details() {
    let clock = TestClock()
    let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
    let endless = TracedProcedure("fetch", end: .whenToldOrCancelled)
    endless.timeout(after: .milliseconds(1_500))
    let conditional = TracedProcedure("upload")
    conditional.add(condition: NotCondition(BlockCondition { true }))
    queue.add(endless, conditional)
    scheduler.run()
    clock.advance(by: .milliseconds(1_500))
    scheduler.run()
    let error = endless.errors.first as? ProcedureError
    #expect(error?.duration == .milliseconds(1_500) && error?.procedure == "fetch")
    #expect(
      endless.errors.map { "\($0)" } == [
        "'fetch' did not finish within 1.5 s and was cancelled; give it more time, or less to do."
      ])
    #expect(
      conditional.errors.map { "\($0)" } == [
        "Condition 'Not<BlockCondition>' of 'upload' was not satisfied."
      ])
    #expect(error?.cycle == [] && ProcedureError(.timedOut).duration == nil)
  }

  @Test("a delay's name has its length, in the unit that suits it, unless it is given another")
  func delays() {
    let names: [(Duration, String)] = [
      (.seconds(2), "2 s"), (.milliseconds(1_500), "1.5 s"), (.milliseconds(1_050), "1.05 s"),
      (.milliseconds(250), "250 ms"), (.microseconds(1_250), "1.25 ms"),
      (.nanoseconds(1_500), "1.5 µs"), (.nanoseconds(7), "7 ns"), (.zero, "0 s"),
      (.seconds(-2), "-2 s"), (.milliseconds(-1), "-1 ms"),
      (.seconds(Int64.max), "9223372036854775807 s"),
      (.seconds(Int64.min), "-9223372036854775808 s"),
      // What infinite seconds are cut to: more seconds than an Int64 holds.
      (Duration(attoseconds: .max), "170141183460469231731.687 s"),
      (Duration(attoseconds: .min), "-170141183460469231731.687 s"),
    ]
    for (length, text) in names {
      #expect(DelayProcedure(by: length).name == "Delay of " + text)
    }
    final class Pause: DelayProcedure, @unchecked Sendable {}
    #expect(Pause(by: .seconds(1)).name == "Pause")
    #expect(DelayProcedure(until: ContinuousClock.now).name == "DelayProcedure")
    #expect(DelayProcedure(until: .now).name == "DelayProcedure")
    #expect(DelayProcedure(by: .seconds(1)).named("pause").name == "pause")
  }

  @Test("named() names any procedure, as its own type; a closure's is named where it is made")
  func names() {
    let transform: TransformProcedure<Int, Int> = TransformProcedure { $0 }.named("transform")
    let any: any OutputProcedure<Int> = transform
    #expect(any.named("again").name == "again" && transform.name == "again")
    let procedures: [Procedure] = [
      BlockProcedure(name: "a") {}, BlockProcedure(name: "b") { _ in },
      ResultProcedure(name: "c") { 1 }, ResultProcedure(name: "d") { _ in 1 },
      TransformProcedure<Int, Int>(name: "e") { $0 },
      TransformProcedure<Int, Int>(name: "f") { _, input in input },
      GroupProcedure(name: "g") { BlockProcedure {}.named("inner") },
      RetryProcedure(name: "h") { BlockProcedure {} },
      RepeatProcedure(name: "i") { BlockProcedure {} },
    ]
    #expect(procedures.map(\.name) == ["a", "b", "c", "d", "e", "f", "g", "h", "i"])
  }
}
