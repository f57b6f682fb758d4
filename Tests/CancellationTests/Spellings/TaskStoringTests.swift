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

  private class Page: Hashable, @unchecked Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
    static func == (left: Page, right: Page) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }
  private final class FirstPage: Page, @unchecked Sendable {}
  private final class LastPage: Page, @unchecked Sendable {}

  @Test("K13: ids of any type are equal only if they are of one type")
  func idsOfOtherTypes() {
    let one: [[AnyTaskID]] = [
      [AnyTaskID(1), AnyTaskID(UInt8(1)), AnyTaskID(1.0), AnyTaskID(Optional(1))],
      [AnyTaskID([1]), AnyTaskID([1.0]), AnyTaskID([UInt8(1)])],
      [AnyTaskID(["a": 1]), AnyTaskID(["a": 1.0])],
      [AnyTaskID(Int?.none), AnyTaskID(String?.none)],
      [AnyTaskID(FirstPage(1)), AnyTaskID(LastPage(1)), AnyTaskID(Page(1))],
    ]
    for ids in one { #expect(Set(ids).count == ids.count, "\(ids)") }
    #expect(AnyTaskID(1) == AnyTaskID(1) && AnyTaskID([1.0]) == AnyTaskID([1.0]))
    #expect(AnyTaskID(FirstPage(1)) == AnyTaskID(FirstPage(1)))
    #expect(AnyTaskID(1) != AnyTaskID(2))
  }

  @Test("K13: cancel(id:) concerns no task whose id is of another type")
  @MainActor func cancelOfOtherType() async throws {
    let (model, gate) = (FeedModel(), Gate())
    let user = model.addTask(id: UInt64(7)) { await gate.wait() }
    let page = model.addTask(id: 7) { await gate.wait() }
    model.addTask(id: 7.0, policy: .cancelPrevious) { await gate.wait() }
    #expect(!user.isCancelled && !page.isCancelled)
    model.cancel(id: 7)
    #expect(!user.isCancelled && page.isCancelled)
    model.cancelAll()
    gate.open()
    try await user.value
  }
}
