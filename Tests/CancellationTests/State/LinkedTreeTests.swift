import Cancellation
import ProcedureTestSupport
import Testing

/// K6: linked sources.
@Suite(.hangLimit) struct LinkedTreeTests {
  struct Failure: Error {}

  /// root → (left → (a, b), right → (c, d))
  private static func tree() -> [CancellationTokenSource] {
    let root = CancellationTokenSource()
    let left = CancellationTokenSource(linkedTo: root.token)
    let right = CancellationTokenSource(linkedTo: root.token)
    let leaves = [left, left, right, right].map { CancellationTokenSource(linkedTo: $0.token) }
    return [root, left, right] + leaves
  }

  @Test("K6: every member of the tree reads cancelled in every handler of any of them")
  func markedFirst() {
    let tree = Self.tree()
    let tokens = tree.map(\.token)
    let recorder = Recorder<Bool>()
    for token in tokens {
      token.onCancel { recorder.note(tokens.allSatisfy { $0.isCancelled }) }
    }
    tree[0].cancel()
    #expect(recorder.events == Array(repeating: true, count: tree.count))
  }

  @Test("K6: combined tokens belong to the tree: they too read cancelled before the first handler")
  func combinedMarkedFirst() {
    let (root, other) = (CancellationTokenSource(), CancellationTokenSource())
    let child = CancellationTokenSource(linkedTo: root.token)
    let derived = [
      root.token || other.token, child.token || other.token, root.token && child.token,
      .all(of: root.token || other.token, child.token),
    ]
    let recorder = Recorder<Bool>()
    root.token.onCancel { recorder.note(derived.allSatisfy { $0.isCancelled }) }
    derived[3].onCancel { recorder.note(child.isCancelled) }
    root.cancel()
    #expect(recorder.events == [true, true])
    #expect(!other.isCancelled)
  }

  @Test("K6: in a handler of one member, a registration on another runs at once")
  func lateInsideTree() {
    let root = CancellationTokenSource()
    let child = CancellationTokenSource(linkedTo: root.token)
    let recorder = Recorder<String>()
    root.token.onCancel {
      child.token.onCancel { recorder.note("late on the child") }
      let born = CancellationTokenSource(linkedTo: child.token)
      recorder.note("born \(born.isCancelled)")
    }
    child.token.onCancel { recorder.note("child") }
    root.cancel()
    #expect(recorder.events == ["late on the child", "born true", "child"])
  }

  @Test("K6: a cancelled child leaves parent and siblings alone, and keeps its own reason")
  func childCancelled() {
    let tree = Self.tree()
    tree[1].cancel(.failure(Failure()))
    #expect(tree.map(\.isCancelled) == [false, true, false, true, true, false, false])
    tree[0].cancel(.taskCancelled)
    #expect(tree.allSatisfy { $0.isCancelled })
    #expect(tree.filter { if case .failure = $0.token.reason { true } else { false } }.count == 3)
  }

  @Test("K6: a child of a cancelled parent is born cancelled, with the parent's reason")
  func bornCancelled() {
    let parent = CancellationTokenSource()
    parent.cancel(.deadlineExceeded)
    let child = CancellationTokenSource(linkedTo: .never, parent.token, CancellationToken.cancelled)
    #expect(child.isCancelled)
    #expect(child.token.reason == .deadlineExceeded)
    let alone = CancellationTokenSource(linkedTo: parent.token)
    #expect(alone.token.reason == .deadlineExceeded)
  }

  @Test("K6: a child of several parents is cancelled with the first, whichever it is")
  func severalParents() {
    for winner in 0..<3 {
      let parents = (0..<3).map { _ in CancellationTokenSource() }
      let child = CancellationTokenSource(
        linkedTo: parents[0].token, parents[1].token, parents[1].token, parents[2].token, .never)
      parents[winner].cancel()
      #expect(child.isCancelled)
    }
  }

  @Test("K6: a parent that is released leaves its child pending")
  func parentReleased() {
    let child = CancellationTokenSource(linkedTo: CancellationTokenSource().token)
    #expect(!child.token.isCompleted)
    child.cancel()
    #expect(child.isCancelled)
  }

  @Test("K6: when the source in the middle is released, its children stay in the tree")
  func middleReleased() {
    let (root, second) = (CancellationTokenSource(), CancellationTokenSource())
    var middle: CancellationTokenSource? = CancellationTokenSource(
      linkedTo: root.token, second.token)
    let middleToken = middle!.token
    let children = (0..<3).map { _ in
      CancellationTokenSource(linkedTo: middleToken, second.token)
    }
    let recorder = Recorder<Bool>()
    root.token.onCancel { recorder.note(children.allSatisfy { $0.isCancelled }) }
    middle = nil
    #expect(middleToken.isCompleted && !middleToken.isCancelled)
    #expect(children.allSatisfy { !$0.token.isCompleted })
    root.cancel(.taskCancelled)
    #expect(recorder.events == [true])
    #expect(!middleToken.isCancelled && !second.isCancelled)
    #expect(children[0].token.reason == .taskCancelled)
  }

  @Test("K6, K9: a combination or map that is not cancelled leaves those linked to it alone")
  func linkedToCombination() {
    let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
    let both = CancellationTokenSource(linkedTo: first.token && second.token)
    first.complete()
    second.cancel()
    #expect(!both.isCancelled)
    let third = CancellationTokenSource()
    let mapped = CancellationTokenSource(linkedTo: third.token.map { false })
    third.cancel()
    #expect(!mapped.isCancelled)
    both.cancel()
    #expect(both.isCancelled)
  }

  @Test("K6: a diamond is marked once and each handler called once")
  func diamond() {
    let root = CancellationTokenSource()
    let sides = (0..<2).map { _ in CancellationTokenSource(linkedTo: root.token) }
    let bottom = CancellationTokenSource(linkedTo: sides[0].token, sides[1].token)
    let calls = Counter()
    bottom.token.onCancel { calls.increment() }
    root.cancel()
    #expect(calls.value == 1)
    withExtendedLifetime((sides, bottom)) {}
  }

  /// As promised, and twice that.
  static let depth = Rounds.size(200_000, otherwise: 15_000)

  @Test("K6: a chain tens of thousands deep is cancelled and released without recursion")
  func deepChain() async {
    await onSmallStack { Self.deepChain(cancels: true) }
    await onSmallStack { Self.deepChain(cancels: false) }
  }

  private static func deepChain(cancels: Bool) {
    var sources = [CancellationTokenSource()]
    for _ in 0..<depth { sources.append(.init(linkedTo: sources.last!.token)) }
    let calls = Counter()
    sources.last?.token.onCancel { calls.increment() }
    if cancels {
      sources[0].cancel()
      #expect(sources.allSatisfy { $0.isCancelled })
    }
    #expect(calls.value == (cancels ? 1 : 0))
    let last = sources.last!.token
    // From the root on, or from the leaf on, or all at once.
    if cancels { sources.reverse() }
    while let source = sources.popLast() { _ = source }
    #expect(last.isCompleted && last.isCancelled == cancels)
  }

  @Test("K6: the middle of a deep chain is released, and the ends stay linked")
  func deepChainWithoutMiddle() {
    var sources = [CancellationTokenSource()]
    for _ in 0..<10_000 { sources.append(.init(linkedTo: sources.last!.token)) }
    let leaf = sources.last!
    for index in (1..<10_000).shuffled() { sources[index] = leaf }
    #expect(!leaf.isCancelled)
    sources[0].cancel()
    #expect(leaf.isCancelled)
  }

  @Test("K6: a parent with many children is cancelled and released, and so are they")
  func wideTree() {
    for cancels in [true, false] {
      var root: CancellationTokenSource? = CancellationTokenSource()
      let children = (0..<Rounds.size(100_000, otherwise: 10_000)).map { _ in
        CancellationTokenSource(linkedTo: root!.token)
      }
      let calls = Counter()
      for child in children { child.token.onCancel { calls.increment() } }
      if cancels { root?.cancel() }
      root = nil
      #expect(children.allSatisfy { $0.isCancelled == cancels })
      #expect(calls.value == (cancels ? children.count : 0))
    }
  }

  @Test("K6: the parents of one source are released in linear time, with and without parents")
  func manyParentsReleased() {
    for isRooted in [true, false] {
      let root = CancellationTokenSource()
      let growth = growth(from: Rounds.size(8_000, otherwise: 2_000)) { count in
        var parents = (0..<count).map { _ in
          isRooted ? CancellationTokenSource(linkedTo: root.token) : CancellationTokenSource()
        }
        let child = CancellationTokenSource(linkedTo: parents.map(\.token))
        parents.removeAll()
        #expect(!child.token.isCompleted)
      }
      #expect(growth < 8)
    }
  }

  @Test("K6: a source whose many parents are released in any order stays in the tree")
  func manyParents() {
    for order in 0..<3 {
      let root = CancellationTokenSource()
      var parents = (0..<100).map { _ in CancellationTokenSource(linkedTo: root.token) }
      let child = CancellationTokenSource(linkedTo: parents.map(\.token))
      let last = parents[50]
      if order == 1 { parents.reverse() }
      if order == 2 { parents.shuffle() }
      while let parent = parents.popLast() { _ = parent }
      #expect(!child.token.isCompleted)
      (order == 0 ? root : last).cancel()
      #expect(child.isCancelled)
    }
  }

  // MARK: The order of handlers

  /// The names of the tokens, in the order of their handlers.
  private static func order(
    _ tokens: KeyValuePairs<String, CancellationToken>, cancelling source: CancellationTokenSource
  ) -> [String] {
    let names = Recorder<String>()
    for (name, token) in tokens { token.onCancel { names.note(name) } }
    source.cancel()
    return names.events
  }

  @Test("K6: handlers of all parents of a source run before its own", arguments: [false, true])
  func parentsFirst(isReversed: Bool) {
    let app = CancellationTokenSource()
    let session = CancellationTokenSource(linkedTo: app.token)
    let screen = CancellationTokenSource(linkedTo: session.token)
    let parents = [app.token, screen.token]
    let request = CancellationTokenSource(linkedTo: isReversed ? parents.reversed() : parents)
    let part = CancellationTokenSource(linkedTo: request.token, app.token)
    let order = Self.order(
      [
        "part": part.token, "request": request.token, "screen": screen.token,
        "session": session.token, "app": app.token,
      ], cancelling: app)
    #expect(order == ["app", "session", "screen", "request", "part"])
  }

  @Test("K6: handlers of all operands of a combination run before its own")
  func operandsFirst() {
    let app = CancellationTokenSource()
    let session = CancellationTokenSource(linkedTo: app.token)
    let screen = CancellationTokenSource(linkedTo: session.token)
    let either = app.token || screen.token
    let both = app.token && screen.token
    let order = Self.order(
      [
        "either": either, "both": both, "screen": screen.token, "session": session.token,
        "app": app.token,
      ], cancelling: app)
    for name in ["either", "both"] {
      #expect(order.firstIndex(of: name)! > order.firstIndex(of: "screen")!, "\(order)")
    }
    #expect(order.first == "app" && order.count == 5)
  }

  @Test("K6: a wide lattice of tokens is cancelled in linear time, parents first")
  func lattice() {
    let growth = growth(from: Rounds.size(2_000, otherwise: 500)) { count in
      let root = CancellationTokenSource()
      var rows = [[root, root]]
      let (calls, early) = (Counter(), Counter())
      for row in 0..<count {
        let above = rows[row].map(\.token)
        rows.append((0..<2).map { _ in CancellationTokenSource(linkedTo: above + [root.token]) })
        for source in rows[row + 1] {
          source.token.onCancel {
            if calls.value / 2 != row { early.increment() }
            calls.increment()
          }
        }
      }
      root.cancel()
      #expect(calls.value == 2 * count && early.value == 0)
    }
    #expect(growth < 8)
  }
}
