import Cancellation

extension Contest {
  /// Sources that are linked to a token, and tokens that are combined of others.
  static let tokenChildren = Contest(
    name: "token, child", count: 200_000,
    entries: [
      Entry("linked child, new + drop", tally: 0) { count in
        let root = CancellationTokenSource()
        for _ in 0..<count { blackHole(CancellationTokenSource(linkedTo: root.token)) }
      },
      Entry("a || b, new + drop", tally: 0) { count in
        let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
        for _ in 0..<count { blackHole(first.token || second.token) }
      },
      Entry("each of 1,000 linked children, new + cancel of the root", tally: 0) { count in
        for _ in 0..<count / 1_000 {
          let root = CancellationTokenSource()
          let children = (0..<1_000).map { _ in CancellationTokenSource(linkedTo: root.token) }
          root.cancel()
          expect(children[0].isCancelled && children[999].isCancelled, "a child is not cancelled")
        }
      },
      Entry("source that another's handler cancels, new + drop", .byHand, tally: 0) { count in
        let root = LockedSource()
        for _ in 0..<count {
          let child = LockedSource()
          root.unregister(root.register { [weak child] in child?.cancel() })
        }
      },
    ])
}
