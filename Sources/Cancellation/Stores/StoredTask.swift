internal import ProcedurePrimitives

/// One task of a store. It is entered in the table before it is created.
final class StoredTask: TaskPlace, @unchecked Sendable {
  private struct Attachment: Sendable {
    var task: (any StorableTask)?
    var isCancelled = false
    /// Callers that wait for the task, which is still being created.
    var awaiting: [CheckedContinuation<any StorableTask, Never>] = []
  }

  private let attachment = Locked(Attachment())
  private let table: TaskTable
  /// The group of its id. The table writes it before the task is created; the task reads it at its
  /// end.
  @safe @exclusivity(unchecked) var group: TaskTable.Group?

  init(in table: TaskTable) {
    self.table = table
  }

  /// Cancels the task. If it has not been created yet, it starts cancelled.
  func cancel() {
    let task = attachment.withLock { attachment in
      attachment.isCancelled = true
      return attachment.task
    }
    task?.cancel()
  }

  func attach(_ task: any StorableTask) {
    var isCancelled = false
    while true {
      let awaiting: [CheckedContinuation<any StorableTask, Never>]? = attachment.withLock {
        attachment in
        guard attachment.isCancelled == isCancelled else { return nil }
        attachment.task = task
        return exchange(&attachment.awaiting, with: [])
      }
      if let awaiting {
        open()
        for continuation in awaiting { continuation.resume(returning: task) }
        return
      }
      // It was cancelled before it was created: it reads cancelled before anyone gets it.
      task.cancel()
      isCancelled = true
    }
  }

  override func taskHasEnded() {
    if let group { table.remove(self, from: group) }
  }

  /// The task. While it is being created, this is a second task that waits for it and forwards its
  /// result.
  func task<Success: Sendable>() -> Task<Success, any Error> {
    if let task = attachment.withLock({ $0.task }) as? Task<Success, any Error> { return task }
    return Task(executorPreference: HelperExecutor.current) {
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

/// A task with any type of result.
protocol StorableTask: Sendable {
  func cancel()
}

extension Task: StorableTask {}
