#if MODEL
  import Cancellation
  import Testing

  @Suite(.serialized) struct CancellationModelTests {
    @Test("K3: two registrations against two cancels: each handler runs once, one cancel wins")
    func registerAgainstCancel() throws {
      let schedules = try Explorer().explore {
        let source = CancellationTokenSource()
        let (calls, wins) = (PlainCounter(), PlainCounter())
        let cancel: @Sendable () -> Void = { if source.cancel(.requested) { wins.value += 1 } }
        let register: @Sendable () -> Void = { source.token.onCancel { calls.value += 1 } }
        return .init(threads: [cancel, register, register, cancel]) {
          try require(calls.value == 2, "\(calls.value) of 2 handlers were called")
          try require(wins.value == 1, "\(wins.value) cancels won")
        }
      }
      #expect(schedules > 50)
    }

    @Test("K5: unregister against cancel: it says true exactly if the handler never runs")
    func unregisterAgainstCancel() throws {
      _ = try Explorer().explore {
        let source = CancellationTokenSource()
        let calls = PlainCounter()
        let removals = PlainCounter()
        let registration = source.token.onCancel { calls.value += 1 }
        let unregister: @Sendable () -> Void = {
          if registration.unregister() { removals.value += 1 }
        }
        return .init(threads: [{ source.cancel() }, unregister, unregister]) {
          try require(
            calls.value + removals.value == 1, "ran \(calls.value), removed \(removals.value)")
        }
      }
    }

    @Test("K6: link against cancel: the child ends cancelled")
    func linkAgainstCancel() throws {
      _ = try Explorer().explore {
        let parent = CancellationTokenSource()
        let children = PlainLog<CancellationTokenSource>()
        return .init(
          threads: [
            { parent.cancel() },
            { children.events.append(CancellationTokenSource(linkedTo: parent.token)) },
          ]
        ) {
          try require(children.events[0].isCancelled, "a linked child was missed")
        }
      }
    }

    @Test("K6: no handler of a tree runs before the whole tree reads cancelled")
    func treeIsMarkedFirst() throws {
      _ = try Explorer().explore {
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

    @Test("K1, K6: a child that goes away against its parent's cancel: settled once, no crash")
    func releaseAgainstCancel() throws {
      _ = try Explorer().explore {
        let parent = CancellationTokenSource()
        let holder = PlainLog<CancellationTokenSource>()
        holder.events = [CancellationTokenSource(linkedTo: parent.token)]
        let token = holder.events[0].token
        let calls = PlainLog<Bool>()
        token.onComplete { calls.events.append($0) }
        return .init(threads: [{ parent.cancel() }, { holder.events = [] }]) {
          try require(calls.events == [token.isCancelled], "told \(calls.events)")
        }
      }
    }
  }
#endif
