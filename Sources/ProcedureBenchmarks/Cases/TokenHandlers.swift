import Cancellation

extension Contest {
  /// Many handlers on one token: registered, and then called by a cancel.
  static let tokenHandlers = handlers(10_000)

  /// Fewer, which stay in the nearest memory.
  static let tokenFewerHandlers = handlers(1_000)

  private static func handlers(_ number: Int) -> Contest {
    Contest(
      name: "token, \(number.grouped) handlers", count: 200_000,
      entries: [
        Entry("token") { count in
          for _ in 0..<count / number {
            let source = CancellationTokenSource()
            for _ in 0..<number { source.token.onCancel { Tally.note() } }
            source.cancel()
          }
        },
        Entry("token, unregistered in the order of registering", tally: 0) { count in
          for _ in 0..<count / number {
            let source = CancellationTokenSource()
            let registrations = (0..<number).map { _ in source.token.onCancel { Tally.note() } }
            for registration in registrations { registration.unregister() }
            source.cancel()
          }
        },
        Entry("closures in an array, no lock", .byHand) { count in
          for _ in 0..<count / number {
            let source = ClosuresArray()
            for _ in 0..<number { blackHole(source.register { Tally.note() }) }
            source.cancel()
          }
        },
        Entry("closures in a dictionary under a lock", .byHand) { count in
          for _ in 0..<count / number {
            let source = LockedSource()
            for _ in 0..<number { blackHole(source.register { Tally.note() }) }
            source.cancel()
          }
        },
      ])
  }
}
