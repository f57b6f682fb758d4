import Cancellation

extension Contest {
  /// A handler that comes and goes, on a token that stays.
  static let tokenRegistration = Contest(
    name: "token, register + unregister", count: 200_000,
    entries: [
      Entry("token", tally: 0) { count in
        let source = CancellationTokenSource()
        for _ in 0..<count {
          let wasThere = source.token.onCancel { Tally.note() }.unregister()
          expect(wasThere, "the handler was not there")
        }
        source.cancel()
      },
      Entry("token that is cancelled, register only") { count in
        for _ in 0..<count { CancellationToken.cancelled.onCancel { Tally.note() } }
      },
      Entry("closures in an array, no lock", .byHand, tally: 0) { count in
        let source = ClosuresArray()
        for _ in 0..<count { source.unregister(source.register { Tally.note() }) }
        source.cancel()
      },
      Entry("closures in a dictionary under a lock", .byHand, tally: 0) { count in
        let source = LockedSource()
        for _ in 0..<count { source.unregister(source.register { Tally.note() }) }
        source.cancel()
      },
    ])
}
