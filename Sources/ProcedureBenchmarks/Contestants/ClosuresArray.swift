/// What a token source is compared with: an array of closures without a lock, as a subject has it.
final class ClosuresArray {
  private var handlers: [(@Sendable () -> Void)?] = []
  private(set) var isCancelled = false

  func register(_ handler: @escaping @Sendable () -> Void) -> Int {
    handlers.append(handler)
    return handlers.count - 1
  }

  func unregister(_ index: Int) {
    handlers[index] = nil
    while case .some(.none) = handlers.last { handlers.removeLast() }
  }

  func cancel() {
    isCancelled = true
    let called = handlers
    handlers = []
    for handler in called { handler?() }
  }
}
