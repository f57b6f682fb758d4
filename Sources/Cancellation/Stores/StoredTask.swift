internal import ProcedurePrimitives

/// One task of a store: entered first, created a moment later.
final class StoredTask: TaskPlace, @unchecked Sendable {
  private struct Attachment: Sendable {
    var task: (any StorableTask)?
    var isCancelled = false
    /// Those that want the task, which is only now being created.
    var awaiting: [CheckedContinuation<any StorableTask, Never>] = []
  }

  private let attachment = Locked(Attachment())
  private let table: TaskTable
  /// Its place in the table. Written by the table before the task is created, which reads it at its end.
  @safe @exclusivity(unchecked) var group: TaskTable.Group?

  init(in table: TaskTable) {
    self.table = table
  }

  /// If the task is not there yet, it starts cancelled.
  func cancel() {
    let task = attachment.withLock { attachment in
      attachment.isCancelled = true
      return attachment.task
    }
    task?.cancel()
  }

  func attach(_ task: any StorableTask) {
    let (isCancelled, awaiting) = attachment.withLock { attachment in
      attachment.task = task
      return (attachment.isCancelled, exchange(&attachment.awaiting, with: []))
    }
    if isCancelled { task.cancel() }
    open()
    for continuation in awaiting { continuation.resume(returning: task) }
  }

  override func taskHasEnded() {
    if let group { table.remove(self, from: group) }
  }

  /// The task; while that is being created, a task that ends as it does.
  func task<Success: Sendable>() -> Task<Success, any Error> {
    if let task = attachment.withLock({ $0.task }) as? Task<Success, any Error> { return task }
    return Task {
      guard let task = await self.attachedTask() as? Task<Success, any Error> else {
        throw CancellationError()
      }
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  private func attachedTask() async -> any StorableTask {
    await withCheckedContinuation { continuation in
      let task = attachment.withLock { attachment in
        if attachment.task == nil { attachment.awaiting.append(continuation) }
        return attachment.task
      }
      if let task { continuation.resume(returning: task) }
    }
  }
}

/// A task of whatever result.
protocol StorableTask: Sendable {
  func cancel()
}

extension Task: StorableTask {}
