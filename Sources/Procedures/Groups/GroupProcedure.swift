internal import Primitives

/// A procedure that consists of others: it runs its children, and finishes after the last of them.
///
/// ```swift
/// let resize = Resize(image)
/// let upload = Upload(image)
/// upload.add(dependency: resize)
/// queue.add(GroupProcedure(resize, upload))
/// ```
///
/// Children start when the group executes. Children may be added at any time until the group's last
/// one has finished: from `execute()`, from an observer of a child, by `produce`. A group holds one
/// slot of its queue while it executes; its children take none.
///
/// A subclass may override `execute()` to add children; it calls `super.execute()` to start them
/// (they start when `execute()` returns in any case). `finish()` is refused: a group ends when its
/// children have.
///
/// ## Cancellation
/// Cancelling a group cancels its children, however deep; all of them read cancelled before anything
/// of any of them is told. A group that is cancelled before it started does not execute; it finishes
/// after its children have finished, cancelled. A child's own cancel or failure touches neither its
/// siblings nor the group; its errors become the group's, each with the child's name.
nonisolated open class GroupProcedure: Procedure, @unchecked Sendable {
  private final let list: ReadyList
  private final let childErrors = Locked<[any Error]>([])

  /// Makes a group of `children`, none of which may be on a queue or in a group.
  public init(children: [Procedure] = []) {
    let reference = GroupReference()
    list = ReadyList(childrenOf: reference)
    super.init()
    reference.group = self
    add(children: children)
  }

  /// Makes a group of the procedures given.
  public convenience init(_ children: Procedure...) {
    self.init(children: children)
  }

  deinit {
    release()
  }

  final override class var isGroup: Bool { true }
  final override var childList: ReadyList? { list }

  /// All children so far, finished ones too, in the order in which they were added.
  ///
  /// They are kept as long as the group is.
  public final var children: [Procedure] { list.children }

  /// Whether children are kept from starting. Those that execute go on; default false.
  ///
  /// A suspended group still finishes when it is cancelled, or when it has no unfinished children.
  public final var isSuspended: Bool {
    get { list.isSuspended }
    set { list.isSuspended = newValue }
  }

  /// How many children may be between started and finished at once; default `Int.max`.
  ///
  /// With 1 they run strictly one at a time, in the order of adding among equally ready ones.
  public final var maxConcurrentChildCount: Int {
    get { list.limit }
    set {
      if newValue <= 0 {
        stopBecauseOfMisuse(
          "maxConcurrentChildCount of group '\(name)' must be at least 1, not \(newValue); "
            + "set isSuspended to hold children back.")
      }
      list.limit = newValue
    }
  }

  /// Adds a child, from any thread, until the group has finished with its children.
  ///
  /// Decided in one step against the group's end: the child is accepted, and the group waits for it,
  /// or refused. A refused child is cancelled with `ProcedureError.groupFinished`, and finishes. A
  /// child added to a cancelled group is cancelled at once, and waited for. If the group has add
  /// observers, the child starts when the will-add observers have been told.
  ///
  /// - Returns: whether it was accepted.
  @discardableResult
  public final func add(child: Procedure) -> Bool {
    let tellsObservers = read { !$0.wants.isDisjoint(with: [.willAdd, .didAdd]) }
    guard child.enqueue(in: list, isHeldBack: tellsObservers) else { return false }
    if tellsObservers {
      note { core in
        core.withRarities { $0.produced.append(Production(procedure: child, target: .ownChild)) }
        return core.machine.noteProduced()
      }
    }
    return true
  }

  /// Adds several children, in order.
  public final func add(children: some Sequence<Procedure>) {
    for child in children { add(child: child) }
  }

  /// Starts the children. An override that adds more calls `super.execute()` at its end.
  open override func execute() {
    list.begin()
  }

  // MARK: The end

  /// The group has executed, or never will: from here on the last child ends it.
  final override func settleChildren() {
    if state == .executing { list.begin() }
    // The turn is ours, so that the end of the children needs no turn of its own.
    if list.settle() { _ = childrenFinished() }
  }

  /// The last child has finished. True if the turn is now held for the caller.
  final func childrenFinished() -> Bool {
    let errors = childErrors.withLock { $0 }
    return update { $0.machine.childrenFinished(errors: errors) } == .requestTurn
  }

  /// Takes over the errors of a child that has finished, except those that the group gave it.
  func collect(_ errors: [any Error], of child: Procedure) {
    let named = errors.named(after: child)
    childErrors.withLock { $0 += named }
  }

  // MARK: Memory

  /// Lets go of the children without recursion: groups may be nested thousands deep.
  ///
  /// Of a group that never ran, children that somebody still refers to are cancelled: nobody else
  /// would end them.
  private func release() {
    var (unfinished, released) = list.abandon()
    while true {
      if var child = unfinished.popLast() {
        child.leaveHome()
        if isKnownUniquelyReferenced(&child) {
          released.append(child)
        } else {
          child.cancel(withErrors: [ProcedureError.parentCancelled([])])
        }
      } else if var child = released.popLast() {
        guard isKnownUniquelyReferenced(&child), let group = child as? GroupProcedure else {
          continue
        }
        let children = group.list.abandon()
        unfinished += children.unfinished
        released += children.finished
      } else {
        return
      }
    }
  }
}

extension [any Error] {
  /// As errors of the group of `child`, without those that the group gave it.
  func named(after child: Procedure) -> [any Error] {
    let name = child.name
    return compactMap { error in
      switch error as? ProcedureError {
      case .parentCancelled: nil
      case .child: error
      default: ProcedureError.child(name, error)
      }
    }
  }
}

/// How children's list refers to the group: weakly, and set once, before anybody else sees it.
final class GroupReference: @unchecked Sendable {
  weak var group: GroupProcedure?
}
