import ProcedureTestSupport
import Testing

/// K14: the listings that others know, as they are written, in Swift 6 mode with no upcoming
/// feature. What is changed is what Swift 6 itself demands, and said in a comment there.
@Suite(
  .hangLimit,
  .enabled(
    if: TypeChecker.current != nil,
    "needs swiftc in PATH and the modules beside the test binary (.build/…/Modules)"))
struct AsWrittenTests {
  private func check(_ source: String) throws {
    let unexpected = try #require(TypeChecker.current).verify(source)
    #expect(unexpected == "")
  }

  @Test("K14: couchdeveloper's && of tokens compiles, and so does a task that gets a token")
  func couchdeveloper() throws {
    try check(
      """
      import Cancellation

      public func && (left: CancellationTokenType, right: CancellationTokenType)
          -> CancellationTokenType
      {
          return left.flatMap {
              //  executes only when left has been cancelled.
              right.map {
                // executes only when right has been cancelled.
                true // completes the returned token with true (cancelled)
              }
          }
      }

      // @Sendable: it is called by the thread that cancels.
      func task(param: Int, cancellationToken: CancellationTokenType,
                completion: @escaping @Sendable (Int?, Error?) -> ()) {
        cancellationToken.onCancel { completion(nil, nil) }
        cancellationToken.onComplete { cancelled in completion(cancelled ? 1 : 0, nil) }
        if cancellationToken.isCancelled || cancellationToken.isCompleted { return }
      }

      final class Client: Cancelable {
        func cancel() {}
      }

      func use(_ client: Client) {
        let param = 1
        let cr = CancellationRequest()
        task(param: param, cancellationToken: cr.token) { (result, error) in
        }
        task(param: param, cancellationToken: CancellationTokenNone()) { (result, error) in
        }
        cr.token.register(cancelable: client)
        let both: CancellationTokenType = cr.token && CancellationTokenNone()
        let either: CancellationTokenType = both || cr.token
        let mapped: CancellationToken = cr.token.map { true }
        let flatMapped: CancellationToken = cr.token.flatMap { mapped }
        let none = CancellationTokenNone()
        let ofNone: CancellationTokenType = none.map { true }
        let alsoOfNone: CancellationTokenType = none.flatMap { ofNone } || either
        let combined = mapped && flatMapped || mapped
        _ = (alsoOfNone, combined, none && none)
        cr.cancel()
      }
      """)
  }

  @Test("K14: Nuke's register compiles with a trailing closure, a bare one and a labelled one")
  func nuke() throws {
    try check(
      """
      import Cancellation

      // Sendable: it is cancelled by the thread that cancels.
      final class DataTask: Sendable {
        func cancel() {}
      }

      struct Loader {
        func loadImage(token: CancellationToken?, finish: @escaping @Sendable () -> Void) -> DataTask {
          let task = DataTask()
          token?.register { task.cancel() }
          token?.register(finish)
          token?.register(closure: finish)
          guard token?.isCancelling != true else { return task }
          return task
        }
      }

      func use(_ loader: Loader) {
        let cts = CancellationTokenSource()
        _ = loader.loadImage(token: cts.token) {}
        cts.cancel()
        _ = cts.isCancelling
      }
      """)
  }

  @Test("K14: a token that an API returns, Sundell's way, is a Cancelable that a token may cancel")
  func sundell() throws {
    try check(
      """
      import Cancellation

      final class SearchTask: Sendable { func cancel() {} }

      // Sendable and final, for which the reference is a `let`: it is cancelled by the thread that cancels.
      final class RequestToken: Cancelable {
        private weak let task: SearchTask?

        init(task: SearchTask) {
          self.task = task
        }

        func cancel() {
          task?.cancel()
        }
      }

      class UserSearchViewController {
        private var requestToken: RequestToken?
        private let task = SearchTask()
        private let searches = CancellationTokenSource()

        func searchBar(textDidChange searchText: String) {
          requestToken?.cancel()
          let token = RequestToken(task: task)
          searches.token.register(token)
          requestToken = token
        }
      }
      """)
  }

  @Test("K14: a view model that keeps its tasks in a dictionary is a TaskCancellable")
  func taskManagement() throws {
    try check(
      """
      import Cancellation

      protocol ObservableObject: AnyObject {}

      @MainActor
      class ViewModel: ObservableObject, TaskCancellable {
          private var taskDict: [TaskID: [Task<Void, Never>]] = [:]

          // isolated: it looks at what belongs to the main actor.
          isolated deinit {
              taskDict.values.forEach { tasks in
                  for task in tasks where !task.isCancelled {
                      task.cancel()
                  }
              }
          }
      }

      extension ViewModel {
          func addTask(
              priority: TaskPriority? = nil,
              operation: @Sendable @escaping () async -> Void
          ) {
              _addTask(id: DefaultTaskID(), task: Task(priority: priority, operation: operation))
          }

          func addTask<ID: TaskIDProtocol>(
              id: ID,
              priority: TaskPriority? = nil,
              operation: @Sendable @escaping () async -> Void
          ) {
              _addTask(id: id, task: Task(priority: priority, operation: operation))
          }

          func _addTask<ID: TaskIDProtocol>(
              id: ID,
              task: Task<Void, Never>
          ) {
              taskDict[id, default: []].append(task)
          }

          func cancelAll() {
              taskDict.values.forEach { tasks in
                  for task in tasks where !task.isCancelled {
                      task.cancel()
                  }
              }
              taskDict = [:]
          }
      }

      // SubClass
      final class FeatureAViewModel: ViewModel { }

      @MainActor
      class HostingViewController<Content, ViewModel: TaskCancellable> {
          let viewModel: ViewModel
          init(rootView: Content, viewModel: ViewModel) { self.viewModel = viewModel }
          func viewWillDisappear(_ animated: Bool) { viewModel.cancelAll() }
      }
      """)
  }

  @Test("K11: Task(cancelledBy:) and addTask need no more than Task: no self, no await, no import")
  func tasks() throws {
    try check(
      """
      import Cancellation

      @MainActor final class Model: TaskStoring, TaskCancellable {
        let taskStore = TaskStore<AnyTaskID>()
        let searches = TaskStore<String>()
        let token = CancellationTokenSource().token
        var x = 0

        func start() {
          Task { x += 1 }
          Task(cancelledBy: token) { x += 1 }
          Task(cancelledBy: token) { [weak self] in self?.x += 1 }
          searches.addTask(id: "a") { x += 1 }
          TaskStore<DefaultTaskID>().addTask { x += 1 }
          addTask { x += 1 }
          addTask(id: 1) { x += 1 }
          cancel(id: 1)
          cancelAll()
        }
      }

      actor Account: TaskStoring {
        let taskStore = TaskStore<AnyTaskID>()
        var balance = 0
        func start(_ token: CancellationToken) {
          Task(cancelledBy: token) { balance += 1 }
          addTask { balance += 1 }
        }
      }

      final class NotSendable { var x = 0 }
      func sends(_ token: CancellationToken) {
        let value = NotSendable()
        Task(cancelledBy: token) { value.x += 1 }
      }
      """)
  }
}
