internal import Dispatch

/// What a token calls when it is settled.
enum CancellationHandler: Sendable {
  case cancel(@Sendable () -> Void)
  case complete(@Sendable (_ cancelled: Bool) -> Void)
  case target(WeakTarget)

  /// Calls it, unless this end of the token does not concern it. Never under a lock.
  func call(cancelled: Bool) {
    switch self {
    case .cancel(let handler): if cancelled { handler() }
    case .complete(let handler): handler(cancelled)
    case .target(let target): if cancelled { target.cancel() }
    }
  }
}

/// A cancelable that the token does not keep alive.
final class WeakTarget: Sendable {
  weak let object: (any Cancelable)?
  let queue: DispatchQueue?

  init(_ object: any Cancelable, queue: DispatchQueue?) {
    self.object = object
    self.queue = queue
  }

  func cancel() {
    guard let object else { return }
    guard let queue else { return object.cancel() }
    queue.async { object.cancel() }
  }
}
