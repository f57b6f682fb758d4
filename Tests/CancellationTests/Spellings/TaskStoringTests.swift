import Cancellation
import ProcedureTestSupport
import Testing

/// A view model that owns its tasks, and a screen that cancels them when it is dismissed.
@Suite(.hangLimit) struct TaskStoringTests {
  enum TaskID: Hashable { case feed, profile }

  @MainActor final class FeedModel: TaskStoring, TaskCancellable {
    nonisolated let taskStore = TaskStore<AnyTaskID>()
    private(set) var items: [String] = []

    func load(_ item: String) -> Task<Void, any Error> {
      addTask { [weak self] in self?.items.append(item) }
    }

    func watch(_ id: TaskID, ended: Gate) {
      addTask(id: id) {
        await withCancellationToken { token in _ = await token.waitUntilCancelled() }
        ended.open()
      }
    }
  }

  @MainActor final class Screen<Model: TaskCancellable> {
    let model: Model
    init(_ model: Model) { self.model = model }
    func viewWillDisappear(isBeingDismissed: Bool) {
      if isBeingDismissed { model.cancelAll() }
    }
  }

  @Test("K13: tasks run on the model's actor, and end when the screen is dismissed")
  @MainActor func screen() async throws {
    let screen = Screen(FeedModel())
    try await screen.model.load("first").value
    #expect(screen.model.items == ["first"])
    let ended = [Gate(), Gate(), Gate()]
    screen.model.watch(.feed, ended: ended[0])
    screen.model.watch(.feed, ended: ended[1])
    screen.model.watch(.profile, ended: ended[2])
    #expect(screen.model.taskStore.count(AnyTaskID(TaskID.feed)) == 2)
    // Covered by another screen, not dismissed.
    screen.viewWillDisappear(isBeingDismissed: false)
    #expect(screen.model.taskStore.count(AnyTaskID(TaskID.feed)) == 2)
    screen.model.cancel(id: TaskID.profile)
    await ended[2].wait()
    screen.viewWillDisappear(isBeingDismissed: true)
    for gate in ended { await gate.wait() }
    #expect(screen.model.taskStore.count(AnyTaskID(TaskID.feed)) == 0)
  }

  @Test("K13: tasks end when the model goes")
  @MainActor func modelGoes() async {
    let ended = Gate()
    var model: FeedModel? = FeedModel()
    weak let reference = model
    model?.watch(.feed, ended: ended)
    model = nil
    #expect(reference == nil)
    await ended.wait()
  }
}
