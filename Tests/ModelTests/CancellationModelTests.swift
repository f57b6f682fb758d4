#if MODEL
  import Cancellation
  import ProcedureTestSupport
  import Testing

  @Suite(.serialized, .hangLimit) struct CancellationModelTests {
    // MARK: Handlers

    @Test(
      "K3: each of two handlers runs once, and one of two cancels wins")
    func registerAgainstCancel() throws {
      try explore {
        let source = CancellationTokenSource()
        let (calls, wins) = (PlainCounter(), PlainCounter())
        let cancel: @Sendable () -> Void = { if source.cancel(.requested) { wins.value += 1 } }
        let register: @Sendable () -> Void = { source.token.onCancel { calls.value += 1 } }
        return .init(threads: [cancel, register, register, cancel]) {
          try require(calls.value == 2, "\(calls.value) of 2 handlers were called")
          try require(wins.value == 1, "\(wins.value) cancels won")
        }
      }
    }

    @Test("K5: remove() against cancel: it says true exactly if the handler never runs")
    func unregisterAgainstCancel() throws {
      try explore {
        let source = CancellationTokenSource()
        let calls = PlainCounter()
        let removals = PlainCounter()
        let registration = source.token.onCancel { calls.value += 1 }
        let unregister: @Sendable () -> Void = {
          if registration.remove() { removals.value += 1 }
        }
        return .init(threads: [{ source.cancel() }, unregister, unregister]) {
          try require(
            calls.value + removals.value == 1, "ran \(calls.value), removed \(removals.value)")
        }
      }
    }

    @Test(
      "K3, K5: onCancel and remove() of several against cancel: each runs or is removed, once")
    func registerAndUnregisterAgainstCancel() throws {
      try explore {
        let source = CancellationTokenSource()
        let calls = (0..<3).map { _ in PlainCounter() }
        let removals = (0..<3).map { _ in PlainCounter() }
        let registrations = (0..<2).map { index in
          source.token.onCancel { calls[index].value += 1 }
        }
        let threads = (0..<2).map { index in
          { @Sendable in if registrations[index].remove() { removals[index].value += 1 } }
        }
        return .init(
          threads: threads + [
            { source.token.onCancel { calls[2].value += 1 } }, { source.cancel() },
          ]
        ) {
          for (index, (call, removal)) in zip(calls, removals).enumerated() {
            try require(
              call.value + removal.value == 1,
              "\(index) ran \(call.value), removed \(removal.value)")
          }
        }
      }
    }

    @Test("K7: two handlers may remove the same later one during the cancel")
    func unregisterInsideHandler() throws {
      try explore {
        let source = CancellationTokenSource()
        let (calls, removals) = (PlainCounter(), PlainCounter())
        let registrations = PlainLog<CancellationRegistration>()
        let unregister: @Sendable () -> Void = {
          if registrations.events[0].remove() { removals.value += 1 }
        }
        source.token.onCancel(unregister)
        registrations.events = [source.token.onCancel { calls.value += 1 }]
        return .init(threads: [{ source.cancel() }, unregister, { source.cancel() }]) {
          try require(
            calls.value + removals.value == 1, "ran \(calls.value), removed \(removals.value)")
        }
      }
    }

    @Test("K1, K4: a cancel and the release of its source make one end, the same for all handlers")
    func cancelAgainstCompletion() throws {
      try exploreInFull {
        let source = CancellationTokenSource()
        let token = source.token
        let ends = PlainLog<Bool>()
        token.onComplete { ends.events.append($0) }
        return .init(
          threads: [
            { source.cancel() }, { source.complete() },
            { token.onComplete { ends.events.append($0) } },
          ]
        ) {
          try require(ends.events.count == 2, "called with \(ends.events)")
          try require(
            ends.events.allSatisfy { $0 == token.isCancelled }, "called with \(ends.events)")
        }
      }
    }

    // MARK: Trees

    @Test("K6: each child that is linked against a cancel ends cancelled, and says so once")
    func linkAgainstCancel() throws {
      try explore {
        let parent = CancellationTokenSource()
        let children = PlainLog<CancellationTokenSource>()
        let calls = PlainCounter()
        let link: @Sendable () -> Void = {
          let child = CancellationTokenSource(linkedTo: parent.token)
          child.token.onCancel { calls.value += 1 }
          children.events.append(child)
        }
        return .init(threads: [{ parent.cancel() }, link, link]) {
          try require(children.events.allSatisfy(\.isCancelled), "a linked child was missed")
          try require(calls.value == 2, "\(calls.value) of 2 handlers were called")
        }
      }
    }

    @Test("K6: no handler of a tree runs before the whole tree reads cancelled")
    func treeIsMarkedFirst() throws {
      try explore {
        let root = CancellationTokenSource()
        let middle = CancellationTokenSource(linkedTo: root.token)
        let leaf = CancellationTokenSource(linkedTo: middle.token)
        let partial = PlainCounter()
        let check: @Sendable () -> Void = {
          if !(middle.isCancelled && leaf.isCancelled) { partial.value += 1 }
        }
        root.token.onCancel(check)
        return .init(
          threads: [
            { root.cancel() }, { middle.cancel() }, { middle.token.onCancel(check) },
          ]
        ) {
          try require(partial.value == 0, "a handler ran in a half-cancelled tree")
          try require(leaf.isCancelled, "the leaf was missed")
        }
      }
    }

    @Test(
      "K6: no handler of a child that is linked while two cancels meet runs in a half-cancelled tree"
    )
    func lateChildOfTree() throws {
      try explore {
        let root = CancellationTokenSource()
        let middle = CancellationTokenSource(linkedTo: root.token)
        let leaf = CancellationTokenSource(linkedTo: middle.token)
        let late = PlainLog<CancellationTokenSource>()
        let (calls, partial) = (PlainCounter(), PlainCounter())
        return .init(
          threads: [
            { root.cancel() }, { middle.cancel() },
            {
              let child = CancellationTokenSource(linkedTo: middle.token)
              late.events.append(child)
              child.token.onCancel {
                calls.value += 1
                if !(middle.isCancelled && leaf.isCancelled) { partial.value += 1 }
              }
            },
          ]
        ) {
          try require(partial.value == 0, "a handler ran in a half-cancelled tree")
          try require(calls.value == 1, "the late child was called \(calls.value) times")
        }
      }
    }

    @Test("K1, K6: a child that is released against its parent's cancel settles once")
    func releaseAgainstCancel() throws {
      try exploreInFull {
        let parent = CancellationTokenSource()
        let holder = PlainLog<CancellationTokenSource>()
        holder.events = [CancellationTokenSource(linkedTo: parent.token)]
        let late = PlainLog<CancellationTokenSource>()
        let token = holder.events[0].token
        let calls = PlainLog<Bool>()
        token.onComplete { calls.events.append($0) }
        return .init(
          threads: [
            { parent.cancel() }, { holder.events = [] },
            { late.events.append(CancellationTokenSource(linkedTo: parent.token)) },
          ]
        ) {
          try require(calls.events == [token.isCancelled], "called with \(calls.events)")
          try require(late.events[0].isCancelled, "a linked child was missed")
        }
      }
    }

    @Test(
      "K6: a child stays in the tree when its parent is released against the cancel of the root")
    func middleGoesAway() throws {
      try exploreInFull {
        let root = CancellationTokenSource()
        let holder = PlainLog<CancellationTokenSource>()
        holder.events = [CancellationTokenSource(linkedTo: root.token)]
        let middle = holder.events[0].token
        let leaf = CancellationTokenSource(linkedTo: middle)
        let calls = PlainCounter()
        leaf.token.onCancel { calls.value += 1 }
        let late = PlainLog<CancellationTokenSource>()
        return .init(
          threads: [
            { root.cancel() }, { holder.events = [] },
            { late.events.append(CancellationTokenSource(linkedTo: middle)) },
          ]
        ) {
          try require(leaf.isCancelled, "the leaf was missed")
          try require(calls.value == 1, "the leaf was called \(calls.value) times")
          try require(late.events[0].isCancelled || !middle.isCancelled, "a link was missed")
        }
      }
    }

    @Test(
      "K6: a child reads cancelled in the root's handler though its parent was released"
    )
    func middleGoesAwayBeforeHandlers() throws {
      try exploreInFull {
        let root = CancellationTokenSource()
        let holder = PlainLog<CancellationTokenSource>()
        holder.events = [CancellationTokenSource(linkedTo: root.token)]
        let leaf = CancellationTokenSource(linkedTo: holder.events[0].token)
        let partial = PlainCounter()
        root.token.onCancel { if !leaf.isCancelled { partial.value += 1 } }
        return .init(threads: [{ root.cancel() }, { holder.events = [] }]) {
          try require(leaf.isCancelled, "the leaf was missed")
          try require(partial.value == 0, "a handler ran in a half-cancelled tree")
        }
      }
    }

    @Test("K6: a child stays in the tree when two parents are released at once")
    func twoParentsGoAway() throws {
      try exploreInFull {
        let root = CancellationTokenSource()
        let holders = [PlainLog<CancellationTokenSource>(), PlainLog<CancellationTokenSource>()]
        let upper = CancellationTokenSource(linkedTo: root.token)
        holders[0].events = [upper]
        holders[1].events = [CancellationTokenSource(linkedTo: upper.token)]
        let leaf = CancellationTokenSource(linkedTo: holders[1].events[0].token)
        return .init(threads: holders.map { holder in { holder.events = [] } }) {
          try require(!leaf.isCancelled, "cancelled without a cancel")
          root.cancel()
          try require(leaf.isCancelled, "the leaf was missed")
        }
      }
    }

    // MARK: Combinations

    @Test("K9: a || b is cancelled once, whichever operand ends first, and calls its handler once")
    func either() throws {
      try explore {
        let (left, right) = (CancellationTokenSource(), CancellationTokenSource())
        let either = left.token || right.token
        let calls = PlainCounter()
        return .init(
          threads: [
            { left.cancel() }, { right.complete() }, { either.onCancel { calls.value += 1 } },
          ]
        ) {
          try require(either.isCancelled, "not decided")
          try require(calls.value == 1, "called \(calls.value) times")
        }
      }
    }

    @Test(
      "K9: a combination that is made while an operand is cancelled is cancelled with it, on every thread"
    )
    func combinedMeanwhile() throws {
      try explore {
        let (left, right) = (CancellationTokenSource(), CancellationTokenSource())
        let made = PlainLog<CancellationToken>()
        return .init(
          threads: [
            { left.cancel() },
            {
              made.events = [
                left.token || right.token, .any(of: [right.token, left.token]),
                left.token.map { true },
              ]
            },
          ]
        ) {
          try require(made.events.allSatisfy(\.isCancelled), "an operand's cancel was missed")
        }
      }
    }

    @Test(
      "K9: a combination that is made while an operand's source is released is decided by the other one"
    )
    func combinedWhileCompleting() throws {
      try explore {
        let (left, right) = (CancellationTokenSource(), CancellationTokenSource())
        let made = PlainLog<CancellationToken>()
        return .init(
          threads: [
            { left.complete() },
            {
              made.events = [
                left.token && right.token, .all(of: [right.token, left.token]),
                left.token || right.token,
              ]
            },
          ]
        ) {
          try require(
            made.events.map(\.isCompleted) == [true, true, false], "an operand's end was missed")
          right.cancel()
          try require(
            made.events.map(\.isCancelled) == [false, false, true], "the wrong one decided")
        }
      }
    }

    @Test("K9: two tokens that begin to follow each other both complete uncancelled")
    func circle() throws {
      try exploreInFull {
        let sources = [CancellationTokenSource(), CancellationTokenSource()]
        let tokens = PlainLog<CancellationToken>()
        tokens.events = (0..<2).map { index in
          sources[index].token.flatMap { tokens.events[1 - index] }
        }
        return .init(threads: [{ sources[0].cancel() }, { sources[1].cancel() }]) {
          let isDecided = tokens.events.allSatisfy { $0.isCompleted && !$0.isCancelled }
          tokens.events = []
          try require(isDecided, "a circle stayed pending")
        }
      }
    }

    @Test("K9: a && b ends once, whichever operand ends first, and calls its handler once")
    func both() throws {
      try explore {
        let (left, right) = (CancellationTokenSource(), CancellationTokenSource())
        let both = left.token && right.token
        let calls = PlainLog<Bool>()
        return .init(
          threads: [
            { left.cancel() }, { right.cancel() }, { both.onComplete { calls.events.append($0) } },
          ]
        ) {
          try require(both.isCancelled, "not decided")
          try require(calls.events == [true], "called with \(calls.events)")
        }
      }
    }

    // MARK: Members that share a token

    @Test(
      "K15: the last leaves, against one that joins: it shares a token that is not cancelled, or does not join"
    )
    func leavingAgainstJoining() throws {
      try explore {
        let shared = SharedCancellation()
        let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
        let (joins, calls) = (PlainCounter(), PlainCounter())
        shared.token.onCancel { calls.value += 1 }
        shared.join(until: first.token)
        return .init(threads: [
          { first.cancel() }, { if shared.join(until: second.token) { joins.value += 1 } },
        ]) {
          try require(
            shared.token.isCancelled == (joins.value == 0),
            "joined \(joins.value), cancelled \(shared.token.isCancelled)")
          second.cancel()
          try require(calls.value == 1 && shared.count == 0, "\(calls.value) calls")
        }
      }
    }

    @Test("K15: one that joins with a token that is being cancelled leaves again")
    func joiningAgainstCancel() throws {
      try explore {
        let shared = SharedCancellation()
        let (stays, leaves) = (CancellationTokenSource(), CancellationTokenSource())
        shared.join(until: stays.token)
        return .init(threads: [
          { leaves.cancel() }, { shared.join(until: leaves.token) },
          { shared.join(until: leaves.token) },
        ]) {
          try require(shared.count == 1 && !shared.token.isCompleted, "\(shared.count) members")
          stays.cancel()
          try require(shared.token.isCancelled, "it is not cancelled with the last")
        }
      }
    }

    // MARK: Serial

    @Test("K13: all earlier tokens read cancelled when renew returns, also beside another renew")
    func renewAgainstRenew() throws {
      try explore {
        let serial = SerialCancellation()
        let first = serial.renew()
        let (early, calls) = (PlainCounter(), PlainCounter())
        first.onCancel { calls.value += 1 }
        let tokens = PlainLog<CancellationToken>()
        let renew: @Sendable () -> Void = {
          let token = serial.renew()
          if !first.isCancelled { early.value += 1 }
          tokens.events.append(token)
        }
        return .init(threads: [renew, renew]) {
          try require(early.value == 0, "an earlier token was pending")
          try require(calls.value == 1, "its handler was called \(calls.value) times")
          try require(
            tokens.events.filter { !$0.isCancelled }.count == 1, "not exactly one is pending")
        }
      }
    }
  }
#endif
