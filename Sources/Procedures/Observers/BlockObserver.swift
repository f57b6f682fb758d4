public import Dispatch

/// An observer made of closures, one for each event to observe.
///
/// ```swift
/// procedure.add(
///   observer: BlockObserver(
///     willExecute: { procedure, _ in log("\(procedure.name) starts") },
///     didFinish: { procedure, errors in log("\(procedure.name) \(errors)") }))
/// ```
///
/// The closures are called in the procedure's turns, like the methods of any observer.
public struct BlockObserver: ProcedureObserver {
  /// The queue that calls the closures; nil for the procedure's worker.
  public let eventQueue: DispatchQueue?

  /// The events for which there is a closure.
  public let events: ProcedureEvents

  private let didAttach: (@Sendable (Procedure) -> Void)?
  private let willExecute: (@Sendable (Procedure, PendingEvent) -> Void)?
  private let didExecute: (@Sendable (Procedure) -> Void)?
  private let didCancel: (@Sendable (Procedure, [any Error]) -> Void)?
  private let willAdd: (@Sendable (Procedure, Procedure) -> Void)?
  private let didAdd: (@Sendable (Procedure, Procedure) -> Void)?
  private let willFinish: (@Sendable (Procedure, [any Error], PendingEvent) -> Void)?
  private let didFinish: (@Sendable (Procedure, [any Error]) -> Void)?

  /// Makes an observer of the events for which you pass a closure.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didAttach: (@Sendable (_ procedure: Procedure) -> Void)? = nil,
    willExecute: (@Sendable (_ procedure: Procedure, _ pendingExecute: PendingEvent) -> Void)? =
      nil,
    didExecute: (@Sendable (_ procedure: Procedure) -> Void)? = nil,
    didCancel: (@Sendable (_ procedure: Procedure, _ errors: [any Error]) -> Void)? = nil,
    willAdd: (@Sendable (_ procedure: Procedure, _ added: Procedure) -> Void)? = nil,
    didAdd: (@Sendable (_ procedure: Procedure, _ added: Procedure) -> Void)? = nil,
    willFinish: (
      @Sendable (_ procedure: Procedure, _ errors: [any Error], _ pendingFinish: PendingEvent) ->
        Void
    )? = nil,
    didFinish: (@Sendable (_ procedure: Procedure, _ errors: [any Error]) -> Void)? = nil
  ) {
    eventQueue = queue
    self.didAttach = didAttach
    self.willExecute = willExecute
    self.didExecute = didExecute
    self.didCancel = didCancel
    self.willAdd = willAdd
    self.didAdd = didAdd
    self.willFinish = willFinish
    self.didFinish = didFinish
    var events: ProcedureEvents = []
    if didAttach != nil { events.insert(.didAttach) }
    if willExecute != nil { events.insert(.willExecute) }
    if didExecute != nil { events.insert(.didExecute) }
    if didCancel != nil { events.insert(.didCancel) }
    if willAdd != nil { events.insert(.willAdd) }
    if didAdd != nil { events.insert(.didAdd) }
    if willFinish != nil { events.insert(.willFinish) }
    if didFinish != nil { events.insert(.didFinish) }
    self.events = events
  }

  /// Calls the closure for this event.
  public func didAttach(to procedure: Procedure) { didAttach?(procedure) }

  /// Calls the closure for this event.
  public func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    willExecute?(procedure, pendingExecute)
  }

  /// Calls the closure for this event.
  public func did(execute procedure: Procedure) { didExecute?(procedure) }

  /// Calls the closure for this event.
  public func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    didCancel?(procedure, errors)
  }

  /// Calls the closure for this event.
  public func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {
    willAdd?(procedure, newProcedure)
  }

  /// Calls the closure for this event.
  public func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) {
    didAdd?(procedure, newProcedure)
  }

  /// Calls the closure for this event.
  public func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    willFinish?(procedure, errors, pendingFinish)
  }

  /// Calls the closure for this event.
  public func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    didFinish?(procedure, errors)
  }
}
