import Procedures
import ProcedureTestSupport
import Testing

/// Neither of two linked procedures keeps the other alive after the hand-over.
@Suite(.hangLimit) struct LinkTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private typealias Number = IdentityProcedure<Int>

  /// Every way of linking two procedures.
  private enum Link: CaseIterable {
    case injectResult, via, optional, inject, bindTo, bindFrom

    func link(_ source: Number, _ target: Number) {
      switch self {
      case .injectResult: target.injectResult(from: source)
      case .via: target.injectResult(from: source) { $0 + 1 }
      case .optional: target.injectResult(from: source, via: { Optional($0)! })
      case .inject: target.inject(dependency: source) { target, source, _ in target.input = 1 }
      case .bindTo: source.bind(to: target)
      case .bindFrom: target.bind(from: source)
      }
    }
  }

  @Test("R2: the source goes when it has finished, also while the target still waits")
  func sourceGoes() {
    for link in Link.allCases {
      let queue = makeQueue()
      let blocker = TracedProcedure(end: .whenTold)
      let target = Number()
      target.input = 1
      target.add(dependency: blocker)
      weak var source: Number?
      do {
        let number = Number()
        number.input = 1
        link.link(number, target)
        source = number
        queue.add(blocker, target, number)
        scheduler.run()
        #expect(number.isFinished && target.isPending)
      }
      #expect(source == nil, "\(link)")
      blocker.finish()
      scheduler.run()
      #expect(target.outcome == .succeeded, "\(link)")
    }
  }

  @Test("R2: the target goes when it has finished, also cancelled while the source still runs")
  func targetGoes() {
    for link in Link.allCases {
      for isCancelled in [false, true] {
        let queue = makeQueue()
        let blocker = TracedProcedure(end: .whenTold)
        let source = Number()
        source.input = 1
        if isCancelled { source.add(dependency: blocker) }
        weak var target: Number?
        do {
          let number = Number()
          number.input = 1
          link.link(source, number)
          target = number
          queue.add(blocker, source, number)
          if isCancelled { number.cancel() }
          scheduler.run()
          #expect(number.isFinished && number.isCancelled == isCancelled)
        }
        #expect(target == nil, "\(link) \(isCancelled)")
        blocker.finish()
        scheduler.run()
        #expect(source.isFinished)
      }
    }
  }

  @Test("R2: two linked procedures that were never added are released with their owner")
  func neverAdded() {
    for link in Link.allCases {
      weak var source: Number?
      weak var target: Number?
      do {
        let pair = (Number(), Number())
        link.link(pair.0, pair.1)
        (source, target) = pair
      }
      #expect(source == nil && target == nil, "\(link)")
    }
  }

  @Test("F4: the closure of a hand-over is released with it, and when the target is cancelled")
  func closures() {
    let released = Counter()
    let queue = makeQueue()
    let (first, second) = (Number(), Number())
    let blocker = TracedProcedure(end: .whenTold)
    let source = ResultProcedure { 1 }
    let late = TracedProcedure(end: .whenTold)
    for (target, dependency) in [(first, source), (second, late)] as [(Number, Procedure)] {
      let tracker = Tracker { released.increment() }
      target.inject(dependency: dependency) { _, _, _ in withExtendedLifetime(tracker) {} }
      target.add(dependency: blocker)
    }
    queue.add(first, second, source, blocker, late)
    second.cancel()
    scheduler.run()
    #expect(released.value == 2 && first.isPending)
    blocker.finish()
    late.finish()
    scheduler.run()
  }

  @Test("bind makes a group's input its child's, and a child's output the group's")
  func bindings() {
    final class Length: GroupProcedure, InputProcedure, OutputProcedure, @unchecked Sendable {
      typealias Input = String
      typealias Output = Int
      init() {
        let count = TransformProcedure<String, Int> { $0.count }
        super.init(children: [count])
        bind(to: count)
        bind(from: count)
      }
    }
    let queue = makeQueue()
    let source = ResultProcedure { "four" }
    let (injected, set, none) = (Length().injectResult(from: source), Length(), Length())
    set.input = "seven"
    let seen = Recorder<Int?>()
    injected.addWillFinishBlockObserver { group, _, _ in seen.note(try? group.output?.get()) }
    let after = IdentityProcedure<Int>().injectResult(from: injected)
    queue.add(injected, set, none, source, after)
    scheduler.run()
    #expect(try! injected.output?.get() == 4 && set.output?.get() == 5)
    #expect(seen.events == [4] && after.input == 4)
    #expect(none.failed && none.isFinished)
  }
}
