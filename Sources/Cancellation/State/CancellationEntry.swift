internal import Dispatch
internal import ProcedurePrimitives

/// An entry of a token until it is settled: a handler to call, or a dependent to settle with it.
enum CancellationEntry: Sendable {
  /// Handlers: called one after another, in the order of registration.
  case cancel(@Sendable () -> Void)
  case complete(@Sendable (_ cancelled: Bool) -> Void)
  case target(WeakTarget)
  case derivation(CancellationDerivation)

  /// Dependents: marked before any handler is called.
  case child(CancellationState)
  case combination(WeakState)
  case follower(WeakFollower)

  /// Calls the handler if this end of the token concerns it. Never called under a lock.
  func call(cancelled: Bool) {
    switch self {
    case .cancel(let handler): if cancelled { handler() }
    case .complete(let handler): handler(cancelled)
    case .target(let target): if cancelled { target.cancel() }
    case .derivation, .child, .combination, .follower:
      stopBecauseOfInconsistency("Internal inconsistency: calling what is not a handler")
    }
  }

  var isWeakTarget: Bool { if case .target = self { true } else { false } }
}

/// A cancelable that the token does not keep alive.
final class WeakTarget: Sendable {
  /// `Weak` needs a class type, and an existential is none.
  private struct Reference {
    weak var object: (any Cancelable)?
  }

  private let reference: Reference
  let queue: DispatchQueue?

  init(_ object: any Cancelable, queue: DispatchQueue?) {
    reference = Reference(object: object)
    self.queue = queue
  }

  var object: (any Cancelable)? { reference.object }

  func cancel() {
    guard let object else { return }
    guard let queue else { return object.cancel() }
    queue.async { object.cancel() }
  }
}

/// The state of a combined token: its operands do not keep it alive, but it keeps them.
final class WeakState: Sendable {
  private let reference: Weak<CancellationState>

  init(_ state: CancellationState) {
    reference = Weak(state)
  }

  var state: CancellationState? { reference.object }
}

/// A token made by `map` or `flatMap`: its operand does not keep it alive.
final class CancellationDerivation: Sendable {
  /// The closure of the user, called when the operand was cancelled; never under a lock.
  ///
  /// - Returns: the state to follow, or nil if the derived token is not cancelled.
  typealias Decision = @Sendable (_ operand: CancellationState) -> CancellationState?

  private let reference: Weak<CancellationState>
  let decide: Decision

  init(_ state: CancellationState, decide: @escaping Decision) {
    reference = Weak(state)
    self.decide = decide
  }

  var state: CancellationState? { reference.object }
}
