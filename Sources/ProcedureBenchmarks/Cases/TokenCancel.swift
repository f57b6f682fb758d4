import Cancellation

extension Contest {
  /// A source's whole life, with one handler.
  static let tokenCancel = Contest(
    name: "token, new + register + cancel", count: 200_000,
    entries: [
      Entry("token") { count in
        for _ in 0..<count {
          let source = CancellationTokenSource()
          source.token.onCancel { Tally.note() }
          source.cancel()
        }
      },
      Entry("token, new + drop", tally: 0) { count in
        for _ in 0..<count { blackHole(CancellationTokenSource()) }
      },
      Entry("closures in an array, no lock", .byHand) { count in
        for _ in 0..<count {
          let source = ClosuresArray()
          blackHole(source.register { Tally.note() })
          source.cancel()
        }
      },
      Entry("closures in a dictionary under a lock", .byHand) { count in
        for _ in 0..<count {
          let source = LockedSource()
          blackHole(source.register { Tally.note() })
          source.cancel()
        }
      },
    ])
}
