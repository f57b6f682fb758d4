import Procedures
import ProcedureTestSupport
import Testing

/// What a procedure ends with that needs another one.
@Suite(.hangLimit) struct ShortfallTests {
  private let scheduler = ManualScheduler()

  /// How the other one ends.
  enum End: CaseIterable {
    case succeeded, failed, cancelled, cancelledWithError
    /// Its own condition is ignored; that of the procedure inside, or of the current attempt.
    case ignored, ignoredInside, ignoredAttempt
    /// It succeeds although the procedure inside, or a child, fails or is cancelled.
    case errorIgnored, cancelIgnored, recovered
    case noOutput

    /// - Returns: the procedure, and a closure to call when it is on a queue.
    func make() -> (any OutputProcedure<Int>, cancel: () -> Void) {
      let name = "it"
      let failing = ResultProcedure<Int>(name: "inside") { throw TestError("broken") }
      let gated = { @Sendable in GatedProcedure(name: "gated", ResultProcedure { 1 }) { false } }
      let successful = ResultProcedure(name: name) { 1 }
      switch self {
      case .succeeded: return (successful, {})
      case .failed: return (ResultProcedure(name: name) { throw TestError("broken") }, {})
      case .cancelled: return (successful, { successful.cancel() })
      case .cancelledWithError:
        return (successful, { successful.cancel(withError: TestError("stop")) })
      case .ignored: return (gated().named(name), {})
      case .ignoredInside: return (ComposedProcedure(name: name, gated()), {})
      case .ignoredAttempt: return (RetryProcedure(name: name) { gated() }, {})
      case .errorIgnored: return (IgnoreErrorsProcedure(name: name, failing), {})
      case .cancelIgnored:
        let outside = ComposedProcedure(name: "outside", failing)
        return (
          IgnoreErrorsProcedure(name: name, outside),
          { outside.cancel(withError: TestError("stop")) }
        )
      case .recovered:
        return (RetryProcedure(name: name) { failing }.recover { _, _, _ in [] }, {})
      case .noOutput:
        return (IgnoreErrorsProcedure(name: name, SilentProcedure(name: "inside")), {})
      }
    }

    /// What a procedure ends with that requires success.
    var text: String? {
      switch self {
      case .succeeded, .errorIgnored, .cancelIgnored, .recovered, .noOutput: nil
      case .failed: "Dependency 'it' failed, and had to succeed: broken"
      case .cancelled: "Dependency 'it' was cancelled."
      case .cancelledWithError: "Dependency 'it' was cancelled: stop"
      case .ignored:
        "Dependency 'it' did not run, since its condition 'BlockCondition' was ignored."
      case .ignoredInside, .ignoredAttempt:
        "Dependency 'it' was cancelled, since condition 'BlockCondition' of 'gated' was ignored."
      }
    }

    /// What a procedure ends with that needs its output.
    var textOfTarget: String? {
      switch self {
      case .errorIgnored, .recovered:
        "Dependency 'it' succeeded, and has an error in place of an output: broken"
      case .cancelIgnored: "'it' has no output: 'outside' was cancelled: stop"
      case .noOutput: "'it' has no output: 'inside' has none."
      default: text
      }
    }
  }

  private final class SilentProcedure: Procedure, OutputProcedure, @unchecked Sendable {
    typealias Output = Int
    init(name: String) {
      super.init()
      self.name = name
    }
    override func execute() { finish() }
  }

  private final class Step: TransformProcedure<Int, Int>, @unchecked Sendable {
    init() {
      super.init { number in
        if number == 2 { throw TestError("\(number)") }
        return number
      }
    }
  }

  /// The text of the only error of `dependent`, which depends on a procedure that ends so.
  private func text(
    after end: End, of dependent: (any OutputProcedure<Int>) -> Procedure
  ) -> String? {
    let queue = ProcedureQueue(scheduler: scheduler)
    let (source, cancel) = end.make()
    let dependent = dependent(source)
    queue.add(source, dependent)
    cancel()
    scheduler.run()
    #expect(dependent.isFinished && dependent.errors.count <= 1)
    return dependent.errors.first.map { "\($0)" }
  }

  @Test("C8: each requirement says how the dependency ended", arguments: End.allCases)
  func requirements(end: End) {
    func text(_ requirement: DependencyRequirement) -> String? {
      self.text(after: end) { source in
        let dependent = BlockProcedure {}
        dependent.add(dependency: source, requiring: requirement)
        return dependent
      }
    }
    #expect(text(.any) == nil)
    #expect(text(.success) == end.text)
    #expect(text(.notCancelled) == (end == .failed ? nil : end.text))
    #expect(text(.successOrIgnored) == (end == .ignored ? nil : end.text))
  }

  @Test("C8, D5: conditions say how it ended, like requirements", arguments: End.allCases)
  func conditions(end: End) {
    let noFailed = text(after: end) { source in
      let dependent = BlockProcedure {}
      dependent.add(dependency: source)
      dependent.add(condition: NoFailedDependencies())
      return dependent
    }
    #expect(noFailed == end.text)
    let atLeast = text(after: end) { source in
      let dependent = BlockProcedure(name: "waiting") {}
      dependent.add(condition: AtLeast(1, of: [source as Procedure], requiring: .success))
      return dependent
    }
    let condition = "Condition 'AtLeast(1, of: 1 procedure)' of 'waiting' was not satisfied: "
    #expect(atLeast == end.text.map { condition + $0 })
  }

  @Test(
    "R1: a target says why it got no output, and its value throws what the source's does",
    arguments: End.allCases)
  func injection(end: End) async {
    let injected = text(after: end) { source in
      IdentityProcedure<Int>().injectResult(from: source)
    }
    #expect(injected == end.textOfTarget)
    let mapped = text(after: end) { source in
      TransformProcedure<Int, Int> { $0 }.injectResult(from: source) { $0 }
    }
    #expect(mapped == end.textOfTarget)

    let queue = ProcedureQueue()
    let (source, cancel) = end.make()
    func add(_ source: some OutputProcedure<Int>) -> IdentityProcedure<Int> {
      let target = IdentityProcedure<Int>().injectResult(from: source)
      queue.isSuspended = true
      queue.add(source, target)
      cancel()
      queue.isSuspended = false
      return target
    }
    let target = add(source)
    let texts = [await error(of: source), await error(of: target)]
    #expect(texts[0] == texts[1] && (texts[0] == nil) == (end == .succeeded))
  }

  private func error(of procedure: some OutputProcedure<Int>) async -> String? {
    do {
      _ = try await procedure.value
      return nil
    } catch { return "\(error)" }
  }

  @Test("R1: a batch without an output names a child that has none, and how that ended")
  func batch() async {
    for isBroken in [true, false] {
      let batch = BatchProcedure<Step>(name: "all") { Step() }.recover { _, _, _ in [] }
      batch.input = isBroken ? [1, 2, 3] : [1, 3]
      let queue = ProcedureQueue()
      queue.add(batch)
      _ = await batch.waitUntilFinished()
      #expect(batch.outcome == .succeeded)
      do {
        #expect(try await batch.value == [1, 3] && !isBroken)
      } catch {
        #expect("\(error)" == "'all' has no output: 'Step[1]' failed: 2")
      }
    }
  }

  @Test("R1: a procedure that ends without an output is asked to finish with one")
  func noOutput() async {
    let procedure = SilentProcedure(name: "silent")
    ProcedureQueue().add(procedure)
    #expect(
      await error(of: procedure)
        == "'silent' has no output where one is needed: finish it with one, or set it.")
  }
}
