import Cancellation

extension Contest {
  /// What malloc holds for sources and handlers.
  static let bytesOfTokens = Contest(
    name: "live bytes, tokens", unit: .bytes, mostRounds: 3, count: 20_000,
    entries: [
      .measured("source", tally: 0) { count in
        await bytes(count) { CancellationTokenSource() }
      },
      .measured("source with one handler", tally: 0) { count in
        await bytes(count) {
          let source = CancellationTokenSource()
          source.token.onCancel { Tally.note() }
          return source
        }
      },
      .measured("source linked to another", tally: 0) { count in
        let root = CancellationTokenSource()
        return await bytes(count) { CancellationTokenSource(linkedTo: root.token) }
      },
      .measured("registration", tally: 0) { count in
        let source = CancellationTokenSource()
        return [
          await LiveBytes.each(of: count) {
            for _ in 0..<count { source.token.onCancel { Tally.note() } }
          }
        ]
      },
      .measured("token, its own size", tally: 0) { _ in
        [Double(MemoryLayout<CancellationToken>.size)]
      },
      .measured("closure in an array, no lock", .byHand, tally: 0) { count in
        let source = ClosuresArray()
        return [
          await LiveBytes.each(of: count) {
            for _ in 0..<count { blackHole(source.register { Tally.note() }) }
          }
        ]
      },
      .measured("closure in a dictionary under a lock", .byHand, tally: 0) { count in
        let source = LockedSource()
        return [
          await LiveBytes.each(of: count) {
            for _ in 0..<count { blackHole(source.register { Tally.note() }) }
          }
        ]
      },
    ])

  private static func bytes<Object: AnyObject>(
    _ count: Int, _ make: () -> Object
  ) async -> [Double] {
    var objects: [Object] = []
    objects.reserveCapacity(count)
    return [
      await LiveBytes.each(of: count) {
        for _ in 0..<count { objects.append(make()) }
      }
    ]
  }
}
