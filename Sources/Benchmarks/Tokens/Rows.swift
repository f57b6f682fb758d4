internal import Cancellation
internal import Dispatch
internal import Synchronization

private let polls = 20_000_000
private let items = 200_000

func pollRows() {
  let source = CancellationTokenSource()
  let token = source.token
  TokenBenchmark.row("token.isCancelled, 1 thread", TokenBenchmark.least(polls) { poll(token) })
  TokenBenchmark.row(
    "token.isCancelled, 2 threads, each",
    TokenBenchmark.least(polls) {
      DispatchQueue.concurrentPerform(iterations: 2) { _ in poll(token) }
    })
  TokenBenchmark.row(
    "CancellationToken.never.isCancelled", TokenBenchmark.least(polls) { poll(.never) })
  TokenBenchmark.row(
    "source.isCancelled",
    TokenBenchmark.least(polls) {
      for _ in 0..<polls where source.isCancelled { fatalError("nobody cancelled") }
    })
  let locked = LockedArraySource()
  let lockedPoll: @Sendable () -> Void = {
    for _ in 0..<polls / 10 where locked.isCancelled { fatalError("nobody cancelled") }
  }
  TokenBenchmark.row(
    "  lock-and-dictionary source, poll, 1 thread",
    TokenBenchmark.least(polls / 10) { lockedPoll() })
  TokenBenchmark.row(
    "  lock-and-dictionary source, poll, 2 threads, each",
    TokenBenchmark.least(polls / 10) {
      DispatchQueue.concurrentPerform(iterations: 2) { _ in lockedPoll() }
    })
}

@inline(never)
private func poll(_ token: CancellationToken) {
  for _ in 0..<polls where token.isCancelled { fatalError("nobody cancelled") }
}

func registrationRows() {
  TokenBenchmark.row(
    "token: new + drop",
    TokenBenchmark.least(items) {
      for _ in 0..<items { blackHole(CancellationTokenSource()) }
    })
  TokenBenchmark.row(
    "token: new + register + cancel",
    TokenBenchmark.least(items) {
      for _ in 0..<items {
        let source = CancellationTokenSource()
        source.token.onCancel {}
        source.cancel()
      }
    })
  TokenBenchmark.row(
    "  closures array: new + register + cancel",
    TokenBenchmark.least(items) {
      for _ in 0..<items {
        let source = ClosuresArraySource()
        blackHole(source.register {})
        source.cancel()
      }
    })
  TokenBenchmark.row(
    "  lock-and-dictionary: new + register + cancel",
    TokenBenchmark.least(items) {
      for _ in 0..<items {
        let source = LockedArraySource()
        blackHole(source.register {})
        source.cancel()
      }
    })
  let token = CancellationTokenSource()
  TokenBenchmark.row(
    "token: register + unregister",
    TokenBenchmark.least(items) {
      for _ in 0..<items { token.token.onCancel {}.unregister() }
    })
  let closures = ClosuresArraySource()
  TokenBenchmark.row(
    "  closures array: register + unregister",
    TokenBenchmark.least(items) {
      for _ in 0..<items { closures.unregister(closures.register {}) }
    })
  let locked = LockedArraySource()
  TokenBenchmark.row(
    "  lock-and-dictionary: register + unregister",
    TokenBenchmark.least(items) {
      for _ in 0..<items { locked.unregister(locked.register {}) }
    })
  TokenBenchmark.row(
    "token: register on a cancelled one",
    TokenBenchmark.least(items) {
      for _ in 0..<items { CancellationToken.cancelled.onCancel {} }
    })
  TokenBenchmark.row(
    "token: register + cancel, each of 1,000 handlers",
    TokenBenchmark.least(items) {
      for _ in 0..<items / 1_000 {
        let source = CancellationTokenSource()
        for _ in 0..<1_000 { source.token.onCancel {} }
        source.cancel()
      }
    })
}

func treeRows() {
  let root = CancellationTokenSource()
  TokenBenchmark.row(
    "token: linked child, new + drop",
    TokenBenchmark.least(items) {
      for _ in 0..<items { blackHole(CancellationTokenSource(linkedTo: root.token)) }
    })
  let other = CancellationTokenSource()
  TokenBenchmark.row(
    "token: a || b, new + drop",
    TokenBenchmark.least(items) {
      for _ in 0..<items { blackHole(root.token || other.token) }
    })
  TokenBenchmark.row(
    "token: cancel a tree, each of 1,000 children (with new)",
    TokenBenchmark.least(items) {
      for _ in 0..<items / 1_000 {
        let root = CancellationTokenSource()
        let children = (0..<1_000).map { _ in CancellationTokenSource(linkedTo: root.token) }
        root.cancel()
        blackHole(children)
      }
    })
}

func deadlineRows() {
  var pending: [CancellationTokenSource] = []
  for index in 0..<100_000 {
    pending.append(CancellationTokenSource(timeout: .seconds(100 + index % 1_000)))
  }
  TokenBenchmark.row(
    "deadline: create + schedule + cancel, 100,000 pending",
    TokenBenchmark.least(items) {
      for index in 0..<items {
        CancellationTokenSource(timeout: .milliseconds(5_000 + index % 60_000)).cancel()
      }
    })
  for source in pending { source.cancel() }
}

func taskRows() async {
  let token = CancellationTokenSource()
  TokenBenchmark.row(
    "withCancellationHandler(for:), enter + exit",
    await TokenBenchmark.least(items) {
      for _ in 0..<items {
        await withCancellationHandler(for: token.token) {
        } onCancel: {
        }
      }
    })
  TokenBenchmark.row(
    "withCancellationToken, enter + exit",
    await TokenBenchmark.least(items) {
      for _ in 0..<items { await withCancellationToken { blackHole($0) } }
    })
  TokenBenchmark.row(
    "  withTaskCancellationHandler, enter + exit",
    await TokenBenchmark.least(items) {
      for _ in 0..<items {
        await withTaskCancellationHandler {
        } onCancel: {
        }
      }
    })
  TokenBenchmark.row(
    "  Task.isCancelled",
    TokenBenchmark.least(items) {
      for _ in 0..<items where Task.isCancelled { fatalError("nobody cancelled") }
    })
  TokenBenchmark.row(
    "Task(cancelledBy:), start + await",
    await TokenBenchmark.least(items / 10) {
      for _ in 0..<items / 10 { _ = try? await Task(cancelledBy: token.token) {}.value }
    })
  TokenBenchmark.row(
    "  Task, start + await",
    await TokenBenchmark.least(items / 10) {
      for _ in 0..<items / 10 { await Task {}.value }
    })
}

func sizeRows() {
  print("token: \(MemoryLayout<CancellationToken>.size) bytes, one word")
}
