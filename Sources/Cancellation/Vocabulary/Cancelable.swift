/// Something that can be cancelled: a procedure, a source, a URL task, a request of your own.
///
/// `cancel()` may be called from any thread, more than once, and after the work has ended; it must
/// not block. The name differs from Combine's `Cancellable` on purpose: releasing a `Cancelable`
/// does not cancel it.
public protocol Cancelable: AnyObject, Sendable {
  /// Asks for the work to be cancelled.
  func cancel()
}
