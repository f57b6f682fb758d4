import Cancellation
import ProcedureTestSupport
import Testing

// What the listings of the task-management library do. As they are written, without
// `@isolated(any)`, which this package's own settings ask for, they are in `AsWrittenTests`. What
// UIKit and SwiftUI have is stood in for; the `deinit` is isolated, since it looks at what the main
// actor owns.

private protocol ObservableObject: AnyObject {}

@MainActor
private class UIHostingController<Content> {
  var isBeingDismissed = false
  init(rootView: Content) {}
  func viewDidLoad() {}
  func viewWillDisappear(_ animated: Bool) {}
}

@MainActor
private class ViewModel: ObservableObject, TaskCancellable {
  private var taskDict: [TaskID: [Task<Void, Never>]] = [:]

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
    operation: @Sendable @escaping @isolated(any) () async -> Void
  ) {
    _addTask(id: DefaultTaskID(), task: Task(priority: priority, operation: operation))
  }

  func addTask<ID: TaskIDProtocol>(
    id: ID,
    priority: TaskPriority? = nil,
    operation: @Sendable @escaping @isolated(any) () async -> Void
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

@MainActor
private class HostingViewController<Content, ViewModel: TaskCancellable>:
  UIHostingController<Content>
{
  let viewModel: ViewModel

  init(rootView: Content, viewModel: ViewModel) {
    self.viewModel = viewModel
    super.init(rootView: rootView)
  }

  override func viewWillDisappear(_ animated: Bool) {
    super.viewWillDisappear(animated)
    let willDisappear = isBeingDismissed
    if willDisappear {
      viewModel.cancelAll()
    }
  }
}

private final class FeatureAViewModel: ViewModel {
  func sleep() async -> Bool {
    do {
      try await Task.sleep(nanoseconds: 5_000_000_000_000)
      return true
    } catch {
      return false
    }
  }
}

private final class FeatureAViewController: HostingViewController<String, FeatureAViewModel> {
  enum ID: TaskIDProtocol { case other }
  nonisolated let ended = Gate()

  override func viewDidLoad() {
    super.viewDidLoad()

    viewModel.addTask { [weak self] in
      let success = await self?.viewModel.sleep() ?? false
      #expect(!success)
      self?.ended.open()
    }
    viewModel.addTask(id: ID.other) {}
  }
}

@Suite(.hangLimit) struct TaskManagementListingTests {
  @Test("K14: a view model with a dictionary of its own is cancelled when its screen is dismissed")
  @MainActor func dismissed() async {
    let controller = FeatureAViewController(rootView: "A", viewModel: FeatureAViewModel())
    controller.viewDidLoad()
    controller.viewWillDisappear(true)
    #expect(!controller.ended.isOpen)
    controller.isBeingDismissed = true
    controller.viewWillDisappear(true)
    await controller.ended.wait()
  }
}
