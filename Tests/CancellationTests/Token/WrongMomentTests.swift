import Cancellation
import Dispatch
import ProcedureTestSupport
import Testing

/// Every public call of tokens, sources and registrations at every moment, also the wrong ones:
/// each has a defined answer, and none traps.
@Suite(.hangLimit) struct WrongMomentTests {
  enum Moment: CaseIterable, Sendable {
    /// Before the cancel, which comes.
    case pending
    /// Before it, in the release of what an unregistered handler had captured.
    case releasedByUnregister
    /// Before the end, in the `deinit` of the object that owns the only source.
    case ownerDeinit
    case inHandler
    /// In the release of what a called handler had captured.
    case releasedByCancel
    case cancelled
    /// In a handler of the end without a cancel.
    case inCompletion
    /// In the release of what a handler had captured that is skipped.
    case releasedByEnd
    case notCancelled
  }

  enum Call: CaseIterable, Sendable {
    case onCancel, onCancelOnQueue, onComplete, registerTarget
    case couchdeveloperHandler, couchdeveloperQueue, couchdeveloperTarget, nukeHandler
    case unregister, unregisterTwice, unregisterLater
    case cancel, cancelTwice, cancelable, cancelAfter, cancelNow
    case disarm, disarmNothing, timeLeft, noTimeLeft, blockingScope
    case link, any, all, map, flatMap, withItself
    case check, reason
  }

  enum Answer: Equatable, Sendable {
    case yes, no
    /// A handler, or what was made of the token: before the call returned, with the cancel, or
    /// never.
    case atOnce, later, never
    /// A reason.
    case requested, deadlineExceeded, none
  }

  private enum Phase { case pending, cancelled, notCancelled }

  private func phase(_ moment: Moment) -> Phase {
    switch moment {
    case .pending, .releasedByUnregister, .ownerDeinit: .pending
    case .inHandler, .releasedByCancel, .cancelled: .cancelled
    case .inCompletion, .releasedByEnd, .notCancelled: .notCancelled
    }
  }

  /// The answers.
  private func expected(_ call: Call, _ moment: Moment) -> Answer {
    // When the owner goes, so does its source: what waits for a cancel waits in vain.
    let kept = moment == .ownerDeinit ? Answer.never : .later
    switch call {
    case .onCancel, .registerTarget, .couchdeveloperHandler, .couchdeveloperTarget, .nukeHandler,
      .any, .all, .map, .flatMap:
      return by(moment, kept, .atOnce, .never)
    case .link:
      // A child is cancelled with its parent, and stays pending when that is not.
      return by(moment, kept, .atOnce, .never)
    case .onCancelOnQueue, .couchdeveloperQueue:
      // Always by `async`.
      return by(moment, kept, .later, .never)
    case .onComplete:
      return by(moment, .later, .atOnce, .atOnce)
    case .unregister:
      return by(moment, .yes, .no, .no)
    case .unregisterTwice:
      return .no
    case .unregisterLater:
      // One whose turn has not come: also during the calls.
      return moment == .cancelled || moment == .notCancelled ? .no : .yes
    case .cancel:
      return by(moment, .yes, .no, .no)
    case .cancelTwice:
      return .no
    case .cancelable, .reason:
      return by(moment, call == .reason ? .none : .requested, .requested, .none)
    case .cancelAfter:
      // One without an owner goes before its deadline.
      return by(moment, moment == .ownerDeinit ? .none : .deadlineExceeded, .requested, .none)
    case .cancelNow:
      return by(moment, .deadlineExceeded, .requested, .none)
    case .disarm:
      return by(moment, .yes, .no, .no)
    case .disarmNothing:
      return .no
    case .timeLeft, .noTimeLeft:
      return by(moment, call == .timeLeft ? .later : .none, .atOnce, .none)
    case .blockingScope:
      return by(moment, .never, .atOnce, .never)
    case .withItself:
      return .yes
    case .check:
      return by(moment, .no, .yes, .no)
    }
  }

  private func by(
    _ moment: Moment, _ pending: Answer, _ cancelled: Answer, _ notCancelled: Answer
  ) -> Answer {
    switch phase(moment) {
    case .pending: pending
    case .cancelled: cancelled
    case .notCancelled: notCancelled
    }
  }

  /// A source that lives through everything up to its end, and does something at one moment.
  private final class Story: Sendable {
    let moment: Moment
    let act: @Sendable (Story) -> Void
    let source = Slot<CancellationTokenSource>()
    let token: CancellationToken
    let clock = TestClock()
    /// Suspended until the end of the story: what is delivered on it was not called at once.
    let queue = DispatchQueue(label: "wrong moments")
    /// Registrations: one made first of all, one made after the handler that acts.
    let registrations = Slots()
    let acted = Counter()

    init(_ moment: Moment, _ act: @escaping @Sendable (Story) -> Void) {
      (self.moment, self.act) = (moment, act)
      let source = CancellationTokenSource()
      token = source.token
      self.source.value = source
    }

    func reach(_ reached: Moment) {
      guard reached == moment, acted.value == 0 else { return }
      acted.increment()
      act(self)
    }

    func live() {
      queue.suspend()
      registrations[1] = token.onCancel {}
      token.onComplete { self.reach($0 ? .inHandler : .inCompletion) }
      register(.releasedByCancel)
      register(.releasedByEnd)
      registrations[2] = token.onCancel {}
      reach(.pending)
      register(.releasedByUnregister).remove()
      switch moment {
      case .ownerDeinit:
        do { _ = Tracker { self.reach(.ownerDeinit) } }
      case .inCompletion, .releasedByEnd, .notCancelled:
        source.value?.complete()
        reach(.notCancelled)
      default:
        source.value?.cancel()
        reach(.cancelled)
      }
      clock.advance(by: .seconds(10))
      source.value = nil
      queue.resume()
      queue.sync {}
    }

    /// A handler whose capture acts when it is released.
    @discardableResult
    private func register(_ release: Moment) -> CancellationRegistration {
      let released = Tracker { self.reach(release) }
      return token.onCancel { withExtendedLifetime(released) {} }
    }
  }

  private final class Target: Cancelable {
    let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    func cancel() { action() }
  }

  @Test(
    "every call at every moment has its answer", arguments: Call.allCases, Moment.allCases)
  func table(call: Call, moment: Moment) {
    let answer = Slot<Answer>()
    let (calls, callsAtOnce) = (Counter(), Slot<Int>())
    let kept = Slot<any Sendable>()
    let story = Story(moment) { story in
      answer.value = perform(call, in: story, calls, kept)
      callsAtOnce.value = calls.value
      if moment == .ownerDeinit { story.source.value = nil }
      if call == .cancelAfter {
        story.clock.advance(by: .seconds(5))
        answer.value = reason(story.token)
      }
    }
    story.live()
    #expect(story.acted.value == 1)
    let given =
      answer.value
      ?? (callsAtOnce.value == 1 ? .atOnce : calls.value == 1 ? .later : .never)
    #expect(given == expected(call, moment) && calls.value <= 1)
    #expect(story.token.isCompleted && story.clock.pendingCount == 0)
    kept.value = nil
  }

  /// Nil if the answer is in the number of calls.
  private func perform(
    _ call: Call, in story: Story, _ calls: Counter, _ kept: Slot<any Sendable>
  ) -> Answer? {
    let token = story.token
    let handler: @Sendable () -> Void = { calls.increment() }
    let target = Target(handler)
    switch call {
    case .onCancel: token.onCancel(handler)
    case .onCancelOnQueue: token.onCancel(on: story.queue, handler)
    case .onComplete: token.onComplete { _ in handler() }
    case .registerTarget:
      kept.value = target
      token.register(target)
    case .couchdeveloperHandler: (token as any CancellationTokenType).onCancel(handler)
    case .couchdeveloperQueue:
      (token as any CancellationTokenType).onCancel(queue: story.queue, handler)
    case .couchdeveloperTarget:
      kept.value = target
      (token as any CancellationTokenType).register(cancelable: target)
    case .nukeHandler: token.register(handler)
    case .unregister: return yes(story.registrations[1].remove())
    case .unregisterTwice:
      story.registrations[1].remove()
      return yes(story.registrations[1].remove())
    case .unregisterLater: return yes(story.registrations[2].remove())
    default: return performOnSource(call, in: story, calls, kept)
    }
    return nil
  }

  private func performOnSource(
    _ call: Call, in story: Story, _ calls: Counter, _ kept: Slot<any Sendable>
  ) -> Answer? {
    let (token, source) = (story.token, story.source.value!)
    switch call {
    case .cancel: return yes(source.cancel(.taskCancelled))
    case .cancelTwice:
      source.cancel(.taskCancelled)
      return yes(source.cancel(.deadlineExceeded))
    case .cancelable:
      (source as any Cancelable).cancel()
      return reason(token)
    case .cancelAfter:
      source.cancel(after: .seconds(5), clock: story.clock.clock)
    case .cancelNow:
      source.cancel(after: .seconds(5), clock: story.clock.clock)
      source.cancel(at: story.clock.now, clock: story.clock.clock)
      return reason(token)
    case .disarm, .timeLeft:
      source.cancel(after: .seconds(5), clock: story.clock.clock)
      if call == .disarm { return yes(source.disarmDeadline()) }
      return timeLeft(token)
    case .disarmNothing: return yes(source.disarmDeadline())
    case .noTimeLeft: return timeLeft(token)
    case .blockingScope:
      withBlockingCancellationHandler(for: token) {
      } onCancel: {
        calls.increment()
      }
    case .link:
      let child = CancellationTokenSource(linkedTo: token)
      kept.value = child
      follow(child.token, calls)
    case .any, .all:
      let other = CancellationTokenSource()
      kept.value = other
      follow(call == .any ? token || other.token : token && other.token, calls)
      if call == .all { other.cancel() }
    case .map: follow(token.map { true }, calls)
    case .flatMap: follow(token.flatMap { .cancelled }, calls)
    case .withItself:
      let same = [
        token || token, token && token, .any(of: token, token), .all(of: [token, token]),
      ]
      return yes(same.allSatisfy { $0 == token })
    case .check:
      do { try token.checkCancellation() } catch { return yes(token.isCancelled) }
      return yes(token.isCancelled)
    default:
      return reason(token)
    }
    return nil
  }

  private func follow(_ derived: CancellationToken, _ calls: Counter) {
    derived.onCancel { calls.increment() }
  }

  private func yes(_ flag: Bool) -> Answer { flag ? .yes : .no }

  private func timeLeft(_ token: CancellationToken) -> Answer {
    switch token.timeLeft {
    case nil: .none
    case .zero?: .atOnce
    default: .later
    }
  }

  private func reason(_ token: CancellationToken) -> Answer {
    switch token.reason {
    case nil: .none
    case .requested: .requested
    case .deadlineExceeded: .deadlineExceeded
    case .taskCancelled, .signal, .failure: .no
    }
  }
}
