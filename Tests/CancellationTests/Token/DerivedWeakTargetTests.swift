import Cancellation
import ProcedureTestSupport
import Testing

/// K8: weak targets on tokens without another owner.
///
/// In processes of their own: who adds one of many looks through them all, and so a test beside
/// this one would keep a target, or a token, alive for the moment in which it looks.
@Suite(.hangLimit) struct DerivedWeakTargetTests {
  @Test("K8: a live target on a derived token that was released is cancelled, a dead one is not")
  func deadAndAlive() async {
    await #expect(processExitsWith: .success) {
      let (source, other, time) = (
        CancellationTokenSource(), CancellationTokenSource(), TestClock()
      )
      let (probe, calls) = (Probe(), Counter())
      var living: [any Cancelable] = []
      for index in 0..<1_000 {
        let target = probe.target { calls.increment() }
        switch index % 4 {
        case 0: (source.token || other.token).register(target)
        case 1: source.token.map { true }.register(target)
        case 2: source.token.flatMap { .cancelled }.register(target)
        default: CancellationToken.timeout(.seconds(1), clock: time.clock).register(target)
        }
        if index % 8 < 4 { living.append(target) }
      }
      source.cancel()
      precondition(calls.value == 375)
      time.advance(by: .seconds(1))
      precondition(calls.value == 500 && time.pendingCount == 0)
      withExtendedLifetime(living) {}
      living = []
      precondition(probe.living == 0)
    }
  }

  @Test("K8: a target that is taken off lets its derived token go")
  func unregistered() async {
    await #expect(processExitsWith: .success) {
      let time = TestClock()
      let target = Probe().target()
      let registrations = (0..<200).map { _ in
        CancellationToken.timeout(.seconds(1), clock: time.clock).register(target)
      }
      precondition(time.pendingCount == 200)
      for registration in registrations { precondition(registration.remove()) }
      _ = consume registrations
      precondition(time.pendingCount == 0)
    }
  }

  @Test(
    "K8: ten times the targets on derived tokens take some ten times the time, and not a hundred")
  func growth() async {
    await #expect(processExitsWith: .success) {
      @Sendable func seconds(_ count: Int) -> Double {
        let (source, other) = (CancellationTokenSource(), CancellationTokenSource())
        let probe = Probe()
        return processorTime {
          var targets: [any Cancelable] = []
          for index in 0..<count {
            let target = probe.target()
            (source.token || other.token).register(target)
            source.token.register(target)
            if index % 2 == 0 { targets.append(target) }
          }
          source.cancel()
          withExtendedLifetime(targets) {}
        }
      }
      let count = Rounds.size(200_000, otherwise: 4_000)
      let growth = (0..<3).map { _ in
        let few = seconds(count / 10)
        return seconds(count) / few
      }.min()!
      precondition(growth < 40, "\(growth) times the time")
    }
  }
}
