internal import ProcedurePrimitives

/// One task of a store: entered first, created a moment later.
final class StoredTask: Sendable {
  private enum Attachment: Sendable {
    case awaited([CheckedContinuation<any Sendable, Never>])
    case attached(any Sendable)
  }

  private let source = CancellationTokenSource()
  private let attachment = Locked(Attachment.awaited([]))

  /// What the task is to be created with: if it was cancelled by then, it starts cancelled.
  var token: CancellationToken { source.token }

  func cancel() { source.cancel() }

  func attach(_ task: any Sendable) {
    let waiting: [CheckedContinuation<any Sendable, Never>] = attachment.withLock { attachment in
      defer { attachment = .attached(task) }
      if case .awaited(let waiting) = attachment { return waiting }
      return []
    }
    for continuation in waiting { continuation.resume(returning: task) }
  }

  /// The task; if it is only now being created, one that ends as it does.
  func task<Success: Sendable>() -> Task<Success, any Error> {
    let attached: (any Sendable)? = attachment.withLock { attachment in
      if case .attached(let task) = attachment { task } else { nil }
    }
    if let task = attached as? Task<Success, any Error> { return task }
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

  private func attachedTask() async -> any Sendable {
    await withCheckedContinuation { continuation in
      let attached: (any Sendable)? = attachment.withLock { attachment in
        switch attachment {
        case .attached(let task): return task
        case .awaited(let waiting):
          attachment = .awaited(waiting + [continuation])
          return nil
        }
      }
      if let attached { continuation.resume(returning: attached) }
    }
  }
}
