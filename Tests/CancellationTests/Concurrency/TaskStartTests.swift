import Cancellation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

/// K11, K13: a task has its place on the token before its first line.
@Suite(.hangLimit) struct TaskStartTests {
  @Test("K11: a cancel that has returned is seen by each line of the task that begins then")
  func cancelBeforeTheFirstLine() async throws {
    for _ in 0..<Rounds.size(20_000, otherwise: 1_500) {
      let source = CancellationTokenSource()
      let task = Slot<Task<Bool, any Error>>()
      let hasReturned = Gate()
      raceOnThreads(
        {
          task.value = Task(cancelledBy: source.token) {
            let isCancelled = hasReturned.isOpen
            return isCancelled && !Task.isCancelled
          }
        },
        {
          source.cancel()
          hasReturned.open()
        })
      let missed = try await task.value!.value
      #expect(!missed)
    }
  }

  @Test("K13: the new task's first line never runs while the old one reads uncancelled")
  func cancelPrevious() async throws {
    for _ in 0..<Rounds.size(20_000, otherwise: 1_500) {
      let store = TaskStore<Int>()
      let hasStarted = [Gate(), Gate()]
      let tasks = [Slot<Task<Bool, any Error>>(), Slot<Task<Bool, any Error>>()]
      let add: @Sendable (Int) -> Void = { own in
        let task = store.addTask(id: 1, policy: .cancelPrevious) { () -> Bool in
          hasStarted[own].open()
          // Not `eventually`, which ends when its task is cancelled, as one of the two is.
          while !hasStarted[1 - own].isOpen { await Task.yield() }
          // The other one is in its first line, or behind it.
          return Task.isCancelled
        }
        tasks[own].value = task
      }
      raceOnThreads({ add(0) }, { add(1) })
      // The older one is cancelled, and saw so.
      var cancelled = 0
      for task in tasks {
        guard let task = task.value else { continue }
        if task.isCancelled { cancelled += 1 }
        let saw = try await task.value
        #expect(saw == task.isCancelled)
      }
      #expect(cancelled == 1)
    }
  }

  @Test(
    "K11: a task on a token that has ended starts cancelled, or is on no token")
  func settledTokens() async throws {
    #expect(try await Task(cancelledBy: .cancelled) { Task.isCancelled }.value)
    #expect(try await !Task(cancelledBy: .never) { Task.isCancelled }.value)
  }

  @MainActor final class Model {
    private(set) var order: [Int] = []
    var count = 0

    @Test("K11: tasks of an actor begin there, in the order in which they were made")
    func order() async throws {
      let source = CancellationTokenSource()
      let store = TaskStore<Int>()
      // Without `self.`, as in a `Task`.
      let tasks = (0..<100).map { index in
        index % 2 == 0
          ? Task(cancelledBy: source.token) { order.append(index) }
          : store.addTask(id: index) { order.append(index) }
      }
      for task in tasks { try await task.value }
      #expect(order == Array(0..<100))
    }

    @Test("K11: a task keeps the isolation of a main-actor class, as Swift's own does")
    func counting() async throws {
      let token = CancellationTokenSource().token
      try await Task(cancelledBy: token) { count += 1 }.value
      try await TaskStore<DefaultTaskID>().addTask { count += 1 }.value
      #expect(count == 2)
    }
  }

  @Test("K11: an operation with an actor of its own begins there, wherever it was formed")
  func elsewhere() async throws {
    actor Account {
      var balance = 0
      func deposit(_ token: CancellationToken) -> Task<Int, any Error> {
        Task(cancelledBy: token) {
          balance += 1
          return balance
        }
      }
    }
    let account = Account()
    for expected in 1...3 {
      #expect(try await account.deposit(.never).value == expected)
    }
    try await Task(cancelledBy: .never) { @MainActor in MainActor.assertIsolated() }.value
  }
}
