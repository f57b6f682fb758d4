import Cancellation
import ProcedureTestSupport
import Testing

/// K8: what is short-lived leaves a long-lived token by itself. Each in a process of its own, whose
/// live bytes are malloc's own figure, which ThreadSanitizer replaces. Twenty thousand times, a
/// million with `STRESS=1`.
@Suite(.hangLimit) struct MemoryTests {
  #if canImport(Glibc) && !TSAN
    @Test("K8: any number of short-lived registrations leave the memory of a long-lived token flat")
    func registrations() async {
      await #expect(processExitsWith: .success) {
        await expectFlat { token in token.onCancel {}.remove() }
      }
    }

    @Test("K8: any number of short-lived weak targets leave it flat")
    func weakTargets() async {
      await #expect(processExitsWith: .success) {
        let probe = Probe()
        await expectFlat { token in token.register(probe.target()) }
        precondition(probe.living == 0)
      }
    }

    @Test("K8: any number of short-lived weak targets of derived tokens leave it flat")
    func derivedWeakTargets() async {
      await #expect(processExitsWith: .success) {
        let (probe, time, other) = (Probe(), TestClock(), CancellationTokenSource())
        let spare = Slot<CancellationRegistration>()
        await expectFlat(within: 128 * 1_024) { token in
          (token || other.token).register(probe.target())
          token.map { true }.register(probe.target())
          (token && other.token).flatMap { .cancelled }.register(probe.target())
          CancellationToken.timeout(.seconds(60), clock: time.clock).register(probe.target())
          // One that a handler keeps.
          let both = token || other.token
          spare.value?.remove()
          spare.value = both.onCancel {}
          both.register(probe.target())
        }
        precondition(probe.living == 0 && time.pendingCount < 1_000)
      }
    }

    @Test("K8: any number of short-lived children leave it flat")
    func children() async {
      await #expect(processExitsWith: .success) {
        await expectFlat { token in _ = CancellationTokenSource(linkedTo: token) }
      }
    }

    @Test("K8: any number of short-lived combined tokens leave it flat, decided or released")
    func combined() async {
      await #expect(processExitsWith: .success) {
        await expectFlat { token in
          let other = CancellationTokenSource()
          let either = token || other.token
          other.cancel()
          precondition(either.isCancelled)
        }
      }
      await #expect(processExitsWith: .success) {
        let other = CancellationTokenSource()
        await expectFlat { token in
          _ = token && other.token
          _ = token || other.token
        }
      }
    }

    @Test("K8: any number of short-lived mapped tokens leave it flat")
    func mapped() async {
      await #expect(processExitsWith: .success) {
        await expectFlat { token in
          _ = token.map { true }
          _ = token.flatMap { .never }
        }
      }
    }

    @Test("K8: any number of short-lived deadlines leave the clock flat")
    func deadlines() async {
      await #expect(processExitsWith: .success) {
        let time = TestClock()
        await expectFlat { token in
          let source = CancellationTokenSource(linkedTo: token)
          source.cancel(after: .seconds(60), clock: time.clock)
          _ = token || .timeout(.seconds(60), clock: time.clock)
        }
        precondition(time.pendingCount == 0)
      }
    }

    @Test("K8: waiters whose task was cancelled, and finished tasks, leave it flat")
    func tasks() async {
      await #expect(processExitsWith: .success) {
        let source = CancellationTokenSource()
        let token = source.token
        func round() async throws {
          let waiter = Task { await token.waitUntilCancelled() }
          waiter.cancel()
          _ = await waiter.value
          try await Task(cancelledBy: token) {}.value
          try await withCancellationHandler(for: token) {
            try Task.checkCancellation()
          } onCancel: {
          }
        }
        for _ in 0..<1_000 { try await round() }
        let before = LiveBytes.now
        for _ in 0..<(Rounds.isStress ? 200_000 : 16_000) { try await round() }
        let growth = LiveBytes.now - before
        // Tasks release what they held a moment after their value is there: less than a leak of the
        // smallest block of malloc a round.
        precondition(abs(growth) < 384 * 1_024, "live bytes changed by \(growth)")
        precondition(!token.isCompleted)
      }
    }

    @Test("K8: a burst of a hundred thousand handlers gives its memory back when it has left")
    func burst() async {
      await #expect(processExitsWith: .success) {
        let source = CancellationTokenSource()
        source.token.onCancel {}
        let growth = LiveBytes.growth {
          var registrations: [CancellationRegistration] = []
          for _ in 0..<100_000 { registrations.append(source.token.onCancel {}) }
          for registration in registrations { precondition(registration.remove()) }
        }
        precondition(growth < 100_000, "grew by \(growth) bytes")
      }
    }
  #endif

  @Test("K8: children and derived tokens leave a long-lived token when they end or are released")
  func instances() {
    let probe = Probe()
    let root = CancellationTokenSource()
    for index in 0..<300 {
      let child = CancellationTokenSource(linkedTo: root.token)
      child.token.onCancel { [instance = probe.instance()] in _ = instance }
      let mapped = child.token.map { [instance = probe.instance()] in
        _ = instance
        return true
      }
      let combined = root.token || mapped
      if index % 3 == 0 { child.cancel() }
      #expect(combined.isCancelled == (index % 3 == 0))
    }
    #expect(probe.living == 0)
  }
}

#if canImport(Glibc) && !TSAN
  /// Does something many times on a token that stays, and looks whether it left a trace.
  func expectFlat(
    within bytes: Int = 64 * 1_024, _ body: (CancellationToken) -> Void
  ) async {
    let source = CancellationTokenSource()
    for _ in 0..<1_000 { body(source.token) }
    let growth = LiveBytes.growth {
      for _ in 0..<Rounds.size(1_000_000, otherwise: 5_000) { body(source.token) }
    }
    precondition(abs(growth) < bytes, "live bytes changed by \(growth)")
    precondition(!source.token.isCompleted)
  }
#endif
