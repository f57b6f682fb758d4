public import Dispatch
internal import ProcedurePrimitives

/// The entry of an observer on a procedure: a subclass for each kind of observer.
///
/// It refers to no procedure, so that a registration which outlives the procedure costs it nothing:
/// a weak reference would slow down all of the procedure's reference counting.
///
/// It is unchecked because `status` decides which thread may touch the subclass's properties: the
/// thread that changed it from idle to calling, or to gone.
///
/// | status  | deliver       | remove    | returned | returned from didFinish |
/// |---------|---------------|-----------|----------|-------------------------|
/// | idle    | → calling     | → gone    | –        | –                       |
/// | calling | inconsistency | → leaving | → idle   | → gone                  |
/// | leaving | inconsistency | –         | → gone   | → gone                  |
/// | gone    | –             | –         | –        | –                       |
@usableFromInline
class ObserverEntry: @unchecked Sendable {
  private enum Status {
    static let idle: UInt8 = 0
    static let calling: UInt8 = 1
    /// Removed while it is called: the thread that calls it releases it.
    static let leaving: UInt8 = 2
    /// Removed, or the procedure has finished.
    static let gone: UInt8 = 3
  }

  private let status = AtomicByte(Status.idle)
  /// Reports the uses of the subclass's properties to the model, which finds races.
  private let uses = UseCount(of: "an observer")
  final let events: ProcedureEvents
  /// Whether didAttach was delivered to it, or need not be.
  final let isAttached = TurnOwned(false)
  /// Where it wants to be called.
  final let place: ObserverPlace

  init(_ events: ProcedureEvents, at place: ObserverPlace) {
    self.events = events
    self.place = place
  }

  /// Whether the call that is due is made elsewhere, and the turn suspended until then.
  @inline(__always)
  final var isCalledElsewhere: Bool {
    switch place {
    case .worker: false
    case .queue, .mainActor: true
    case .stage(let stage): stage.putsAside()
    }
  }

  /// Calls the observer. Subclasses override it.
  func call(for event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?) {}

  /// Releases the observer. Subclasses override it.
  func release() {}

  /// Whether it receives no more events.
  final var isRemoved: Bool { status.load() >= Status.leaving }

  /// Releases the observer, which receives no more events. True the first time.
  @discardableResult
  final func remove() -> Bool {
    while !isRemoved {
      if status.compareExchange(Status.idle, Status.gone) {
        uses.note()
        release()
        return true
      }
      if status.compareExchange(Status.calling, Status.leaving) { return true }
    }
    return false
  }

  /// Calls the observer, unless it was removed. Releases it after the finish, which is its last
  /// event.
  ///
  /// Called by the holder of the turn, or on its behalf.
  final func deliver(
    _ event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?
  ) {
    guard status.compareExchange(Status.idle, Status.calling) else { return }
    uses.note()
    call(for: event, of: procedure, adding: added)
    if event != .didFinish, status.compareExchange(Status.calling, Status.idle) { return }
    // Another thread removed it meanwhile and left the release to this one; or this was the last
    // event.
    status.store(Status.gone)
    release()
  }

  /// Hands a pending event to the observer, and makes the procedure wait if the observer kept it.
  final func offer(
    _ event: HoldableEvent, of procedure: Procedure, to call: (PendingEvent) -> Void
  ) {
    var pending = PendingEvent(event, of: procedure)
    call(pending)
    if !isKnownUniquelyReferenced(&pending) { pending.hold() }
  }
}

/// The entry of a `ProcedureObserver`.
final class ProcedureObserverEntry<Observer: ProcedureObserver>: ObserverEntry, @unchecked Sendable
{
  /// Used by the thread that changed `status`.
  private var observer: Observer?

  init(_ observer: Observer, at place: ObserverPlace) {
    self.observer = observer
    super.init(observer.events, at: place)
  }

  override func release() { observer = nil }

  override func call(
    for event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?
  ) {
    guard let observer else { return }
    switch event {
    case .didAttach:
      observer.didAttach(to: procedure)
    case .willExecute:
      offer(.execute, of: procedure) { observer.will(execute: procedure, pendingExecute: $0) }
    case .didExecute:
      observer.did(execute: procedure)
    case .didCancel:
      observer.did(cancel: procedure, withErrors: procedure.cancelErrors)
    case .willAdd:
      if let added { observer.procedure(procedure, willAdd: added) }
    case .didAdd:
      if let added { observer.procedure(procedure, didAdd: added) }
    case .willFinish:
      offer(.finish, of: procedure) {
        observer.will(finish: procedure, withErrors: procedure.errors, pendingFinish: $0)
      }
    case .didFinish:
      observer.did(finish: procedure, withErrors: procedure.errors)
    default:
      stopBecauseOfInconsistency(
        "Internal inconsistency: event \(event.rawValue) is not a single event")
    }
  }
}

/// The entry of a closure, which receives exactly one event.
@usableFromInline
final class BlockObserverEntry<P: Procedure>: ObserverEntry, @unchecked Sendable {
  /// Used by the thread that changed `status`.
  @safe @exclusivity(unchecked) private var block: ObserverBlock<P>?

  @usableFromInline
  init(_ block: ObserverBlock<P>, at place: ObserverPlace) {
    self.block = block
    super.init(block.event, at: place)
  }

  override func release() { block = nil }

  override func call(
    for event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?
  ) {
    // A closure for procedures of type `P` was added to a procedure of that type.
    let target = unsafe unsafeDowncast(procedure, to: P.self)
    switch block {
    case .willExecute(let block): offer(.execute, of: procedure) { block(target, $0) }
    case .didExecute(let block): block(target)
    case .didCancel(let block): block(target, procedure.cancelErrors)
    case .willFinish(let block):
      offer(.finish, of: procedure) { block(target, procedure.errors, $0) }
    case .didFinish(let block): block(target, procedure.errors)
    case .willAdd(let block), .didAdd(let block): if let added { block(target, added) }
    case nil: break
    }
  }
}

/// A closure for one event of a procedure, which it gets as its own type.
@usableFromInline
enum ObserverBlock<P: Procedure>: Sendable {
  case willExecute(@Sendable (P, PendingEvent) -> Void)
  case didExecute(@Sendable (P) -> Void)
  case didCancel(@Sendable (P, [any Error]) -> Void)
  case willFinish(@Sendable (P, [any Error], PendingEvent) -> Void)
  case didFinish(@Sendable (P, [any Error]) -> Void)
  case willAdd(@Sendable (P, Procedure) -> Void)
  case didAdd(@Sendable (P, Procedure) -> Void)

  var event: ProcedureEvents {
    switch self {
    case .willExecute: .willExecute
    case .didExecute: .didExecute
    case .didCancel: .didCancel
    case .willFinish: .willFinish
    case .didFinish: .didFinish
    case .willAdd: .willAdd
    case .didAdd: .didAdd
    }
  }
}

/// Where an observer is called.
@usableFromInline
enum ObserverPlace: Sendable {
  /// On the worker that runs the procedure's turn.
  case worker
  case queue(DispatchQueue)
  case mainActor
  /// A simulation decides the place of each call.
  case stage(any ObserverStage)

  @usableFromInline
  init(_ queue: DispatchQueue?) {
    self = queue.map(ObserverPlace.queue) ?? .worker
  }

  /// The place in a report: "on the main actor".
  var words: String {
    switch self {
    case .worker: "on a worker"
    case .queue(let queue): "on queue '\(queue.label)'"
    case .mainActor: "on the main actor"
    case .stage: "in a simulation"
    }
  }

  /// Runs `work` there, later.
  func perform(_ work: @escaping @Sendable () -> Void) {
    switch self {
    case .worker: work()
    case .queue(let queue): queue.async(execute: work)
    case .mainActor: Task { @MainActor in work() }
    case .stage(let stage): stage.perform(work)
    }
  }
}

/// Decides whether an observer is called at once, or later, with the turn suspended until then.
@usableFromInline
package protocol ObserverStage: AnyObject, Sendable {
  /// Whether the call that is due is suspended. Called in the turn of the procedure.
  func putsAside() -> Bool

  /// Runs `work` later: the call, after which the turn continues.
  func perform(_ work: @escaping @Sendable () -> Void)
}
