import Cancellation
import Synchronization
import ProcedureTestSupport
import Testing

/// Two and more threads at once; some hundreds of rounds, thousands with `STRESS=1`.
@Suite(.hangLimit) struct RaceTests {
  /// ```
  ///  thread A            thread B
  ///  cancel()            onCancel { ran }
  /// ```
  @Test("K3: a handler that is registered against a cancel runs exactly once")
  func registerAgainstCancel() {
    for _ in 0..<Rounds.few {
      let (source, calls) = (CancellationTokenSource(), Counter())
      let token = source.token
      raceOnThreads(
        { source.cancel() },
        {
          for _ in 0..<3 { token.onCancel { calls.increment() } }
          if token.isCancelled {
            // After the cancel: called before `onCancel` returns.
            let before = calls.value
            token.onCancel { calls.increment() }
            #expect(calls.value > before)
            calls.decrement()
          }
        })
      #expect(calls.value == 3)
    }
  }

  @Test("K1: exactly one of several cancels wins, and all callers then read cancelled")
  func cancelAgainstCancel() {
    for _ in 0..<Rounds.few {
      let (source, wins, calls) = (CancellationTokenSource(), Counter(), Counter())
      source.token.onCancel { calls.increment() }
      let cancel: @Sendable () -> Void = {
        if source.cancel(.requested) { wins.increment() }
        #expect(source.isCancelled)
      }
      raceOnThreads(cancel, cancel, cancel)
      #expect(wins.value == 1 && calls.value == 1)
    }
  }

  @Test("K5: either a handler ran, or remove() returned true, and never both")
  func unregisterAgainstCancel() {
    for _ in 0..<Rounds.few {
      let source = CancellationTokenSource()
      let (ran, unregistered) = (Counter(), Counter())
      let registrations = (0..<3).map { _ in source.token.onCancel { ran.increment() } }
      raceOnThreads(
        { source.cancel() },
        { if registrations[2].remove() { unregistered.increment() } },
        { if registrations[2].remove() { unregistered.increment() } })
      #expect(ran.value + unregistered.value == 3)
    }
  }

  @Test(
    "K6: a child that is linked against a cancel ends cancelled, never ahead of a registration on it"
  )
  func linkAgainstCancel() {
    for _ in 0..<Rounds.few {
      let root = CancellationTokenSource()
      let existing = (0..<4).map { _ in CancellationTokenSource(linkedTo: root.token) }
      let (calls, linked) = (Counter(), Slot<CancellationTokenSource>())
      raceOnThreads(
        { root.cancel() },
        {
          let child = CancellationTokenSource(linkedTo: root.token)
          linked.value = child
          child.token.onCancel {
            calls.increment()
            // A late child's handler does not run ahead of the walk through the tree.
            #expect(existing.allSatisfy { $0.isCancelled })
          }
        })
      #expect(linked.value?.isCancelled == true)
      #expect(calls.value == 1)
    }
  }

  @Test("K3: a thread that reads cancelled anywhere in a tree and then registers is called at once")
  func registerWhileMarking() {
    for _ in 0..<Rounds.few / 4 {
      let root = CancellationTokenSource()
      let children = (0..<200).map { _ in CancellationTokenSource(linkedTo: root.token) }
      raceOnThreads(
        { root.cancel() },
        {
          var spins = 0
          while !children.contains(where: \.isCancelled), spins < 1_000 { spins += 1 }
          guard let first = children.first(where: \.isCancelled) else { return }
          let calls = Counter()
          first.token.onCancel {
            calls.increment()
            #expect(children.allSatisfy { $0.isCancelled })
          }
          #expect(calls.value == 1)
        })
    }
  }

  @Test(
    "K6: a parent and a child that are cancelled at once both end cancelled, and each handler runs once"
  )
  func parentAgainstChild() {
    for _ in 0..<Rounds.few {
      let root = CancellationTokenSource()
      let child = CancellationTokenSource(linkedTo: root.token)
      let leaves = (0..<3).map { _ in CancellationTokenSource(linkedTo: child.token) }
      let calls = Counter()
      for leaf in leaves {
        leaf.token.onCancel {
          calls.increment()
          #expect(child.isCancelled && leaves.allSatisfy { $0.isCancelled })
        }
      }
      raceOnThreads({ root.cancel() }, { child.cancel() })
      #expect(root.isCancelled && child.isCancelled && calls.value == 3)
    }
  }

  /// Two roots over the same leaves, walked by two threads that meet.
  @Test("K6: two walks that meet do not deadlock, and no handler runs ahead of either tree")
  func walksThatMeet() {
    for _ in 0..<Rounds.few {
      let roots = (0..<2).map { _ in CancellationTokenSource() }
      let middles = (0..<6).map { index in
        CancellationTokenSource(
          linkedTo: roots[index % 2].token, roots[(index / 2) % 2].token)
      }
      let leaves = (0..<6).map { index in
        CancellationTokenSource(linkedTo: middles[index].token, middles[5 - index].token)
      }
      let calls = Counter()
      for leaf in leaves { leaf.token.onCancel { calls.increment() } }
      for root in roots {
        root.token.onCancel { #expect(leaves.allSatisfy { $0.isCancelled }) }
      }
      raceOnThreads({ roots[0].cancel() }, { roots[1].cancel() })
      #expect(calls.value == leaves.count)
    }
  }

  @Test("K8: a child may end while its parent is cancelled")
  func releaseAgainstCancel() {
    for _ in 0..<Rounds.few {
      let (root, probe) = (CancellationTokenSource(), Probe())
      let slot = Slot<CancellationTokenSource>()
      slot.value = CancellationTokenSource(linkedTo: root.token)
      let token = slot.value!.token
      token.onCancel { [instance = probe.instance()] in _ = instance }
      raceOnThreads({ root.cancel() }, { slot.value = nil })
      #expect(token.isCompleted && probe.living == 0)
    }
  }

  @Test("K6: a leaf ends cancelled though the token in the middle ends while the root is cancelled")
  func middleReleaseAgainstCancel() {
    for _ in 0..<Rounds.few {
      let (root, slot) = (CancellationTokenSource(), Slot<CancellationTokenSource>())
      slot.value = CancellationTokenSource(linkedTo: root.token)
      let leaf = CancellationTokenSource(linkedTo: slot.value!.token)
      raceOnThreads({ root.cancel() }, { slot.value = nil })
      #expect(leaf.isCancelled)
    }
  }

  @Test("K10: a deadline may pass during a cancel, a re-arming or the end of its source")
  func deadlineAgainstCancel() {
    for round in 0..<Rounds.few {
      let (time, slot) = (TestClock(), Slot<CancellationTokenSource>())
      let (calls, completions) = (Counter(), Counter())
      let source = CancellationTokenSource()
      source.token.onCancel { calls.increment() }
      source.token.onComplete { _ in completions.increment() }
      slot.value = source
      source.cancel(after: .seconds(1), clock: time.clock)
      let token = source.token
      raceOnThreads(
        { [weak source] in
          switch round % 3 {
          case 0: source?.cancel()
          case 1: source?.cancel(after: .seconds(5), clock: time.clock)
          default: slot.value = nil
          }
        },
        { time.advance(by: .seconds(1)) })
      #expect(calls.value == (token.isCancelled ? 1 : 0))
      if round % 3 == 0 { #expect(token.isCancelled && time.pendingCount == 0) }
      time.advance(by: .seconds(10))
      if round % 3 == 1 { #expect(token.isCancelled) }
      #expect(completions.value == (token.isCompleted ? 1 : 0))
      withExtendedLifetime(source) {}
    }
  }

  @Test("K10: once a later deadline was accepted, the earlier one does not cancel")
  func rearmAgainstDeadline() {
    for _ in 0..<Rounds.few {
      let time = TestClock()
      let source = CancellationTokenSource()
      source.cancel(after: .seconds(1), clock: time.clock)
      raceOnThreads(
        {
          source.cancel(after: .seconds(60), clock: time.clock)
          let isCancelled = source.isCancelled
          // What is not cancelled now is not cancelled by the replaced deadline afterwards.
          time.advance(by: .zero)
          #expect(source.isCancelled == isCancelled)
        },
        { time.advance(by: .seconds(1)) })
    }
  }

  @Test("K10: the last owner of a timeout token leaves as it fires")
  func timeoutAgainstRelease() {
    for _ in 0..<Rounds.few {
      let (time, slot, calls) = (TestClock(), Slot<CancellationToken>(), Counter())
      slot.value = .timeout(.seconds(1), clock: time.clock)
      let registration = slot.value!.onCancel { calls.increment() }
      let unregistered = Counter()
      raceOnThreads(
        {
          slot.value = nil
          if registration.remove() { unregistered.increment() }
        },
        { time.advance(by: .seconds(1)) })
      #expect(calls.value + unregistered.value == 1)
      #expect(time.pendingCount == 0)
    }
  }

  @Test("K8: weak targets die while the token is cancelled and swept")
  func weakTargetsAgainstCancel() {
    for _ in 0..<Rounds.few / 4 {
      let (source, probe) = (CancellationTokenSource(), Probe())
      let token = source.token
      raceOnThreads(
        { for _ in 0..<100 { token.register(probe.target()) } },
        { for _ in 0..<100 { token.register(probe.target()) } },
        { source.cancel() })
      #expect(probe.living == 0)
    }
  }

  @Test("K2: data written before the cancel is seen by a thread that reads cancelled")
  func publication() {
    for round in 0..<Rounds.few {
      let source = CancellationTokenSource()
      let data = Atomic(0)
      raceOnThreads(
        {
          data.store(round, ordering: .relaxed)
          source.cancel()
        },
        {
          if source.isCancelled { #expect(data.load(ordering: .relaxed) == round) }
        })
    }
  }
}
