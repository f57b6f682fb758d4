internal import ProcedurePrimitives

/// The wait of one procedure, the *dependent*, for another one, the *dependency*. Both refer to
/// this object.
///
/// | status  | meaning                                          | what may follow  |
/// |---------|--------------------------------------------------|------------------|
/// | armed   | the dependent waits, or will once it is enqueued | settled, revoked |
/// | settled | the dependency has finished                      |                  |
/// | revoked | the dependent does not wait for it any more      |                  |
///
/// A dependency that the user takes back is also marked as such, since it may still stand in the
/// dependent's row (`DependencyIndex`).
///
/// The steps of its life, and the lock under which each is taken:
///
/// ```
/// made      the dependent's     joins the dependent's row
/// armed     the dependent's     knows the dependent, which counts it: when the dependent is
///                               enqueued, or at once if it was
/// entered   the dependency's    joins the dependency's row; if the dependency has finished, it is
///                               settled instead
/// settled   none                on the dependency's worker, which counts it off under the
///                               dependent's lock
/// left      none                leaves the dependent's row with the dependent's last step
/// ```
///
/// The dependent revokes it, at any moment before it is settled, if it is taken back or the
/// dependent was cancelled. One compare-exchange decides between settling and revoking: only the
/// thread whose change of the status succeeded counts the dependency off, and releases the
/// dependent. No lock is held from one step to the next.
///
/// | field              | guarded by                                                            |
/// |--------------------|-----------------------------------------------------------------------|
/// | `dependent`        | the dependent's lock until it is entered; then who changes its status |
/// | `isTakenBack`      | the dependent's lock                                                  |
/// | `nextOfDependent`  | the dependent's lock; its last turn                                   |
/// | `nextOfDependency` | the thread that enters it; the dependency's lock; its last turn       |
/// | `patience`         | the dependency's lock                                                 |
///
/// Invariants:
/// 1. The dependent is referred to from armed until settled or revoked: no reference cycle is left
///    after the end of either.
/// 2. The latest entry in a dependency's row is not revoked, or the thread that revoked it is about
///    to remove it. The row therefore keeps nothing alive for which no procedure waits.
/// 3. Rows are taken apart entry by entry, never released as a whole: they may have a million
///    entries.
class Dependency: @unchecked Sendable {
  private static let armed: UInt8 = 0
  private static let settled: UInt8 = 1
  private static let revoked: UInt8 = 2

  final let dependency: Procedure
  private final let status = AtomicByte(Dependency.armed)
  private final let requirement: DependencyRequirement
  /// Whether the user has taken it back, though it may still stand in the dependent's row. Next to
  /// the other bytes it needs no memory. The dependent's lock guards it.
  @safe @exclusivity(unchecked) fileprivate final var isTakenBack = false
  /// How many entries may follow this one before the row is searched for revoked ones. The
  /// dependency's lock guards it.
  @safe @exclusivity(unchecked) fileprivate final var patience: UInt32 = 0
  /// The dependent's lock guards it until it is entered, then the thread that changes `status`.
  @safe @exclusivity(unchecked) private final var dependent: Procedure?
  private final let usesOfDependent = UseCount(of: "the dependent of a dependency")
  /// The dependency that was added to the dependent before this one. Whoever has the dependent's
  /// row has it: under the dependent's lock, or in its last turn.
  @safe @exclusivity(unchecked) fileprivate final var nextOfDependent: Dependency?
  /// The entry that joined the dependency's row before this one. Whoever has the dependency's row
  /// has it: under the dependency's lock, or in its last turn.
  @safe @exclusivity(unchecked) fileprivate final var nextOfDependency: Dependency?

  init(on dependency: Procedure, requiring requirement: DependencyRequirement = .any) {
    self.dependency = dependency
    self.requirement = requirement
  }

  final var isSettled: Bool { status.load() == Self.settled }

  /// Whether the dependent waits for it, or will once it is enqueued.
  final var isArmed: Bool { status.load() == Self.armed }

  fileprivate final var isRevoked: Bool { status.load() == Self.revoked }

  /// Whether it is one of the `dependencies` that the user sees.
  var isDeclared: Bool { true }

  /// Whether the dependent needs nothing more from the dependency.
  var isDone: Bool { false }

  /// From now on the dependent counts it.
  final func arm(for dependent: Procedure) {
    dependent.assertLocked()
    usesOfDependent.note()
    self.dependent = dependent
  }

  /// Enters it at the dependency, or settles it if that has finished. Called once it is armed; no
  /// lock is held.
  static func enter(_ new: consuming Dependency) {
    let dependency = new.dependency
    var unentered: Dependency? = consume new
    var pruned = Dependents()
    dependency.withCore { core in
      if !core.life.isRetired, let new = unentered.take() {
        pruned = core.dependents.enter(new)
      }
    }
    if !pruned.isEmpty { pruned.release() }
    // The dependency has already notified its dependents.
    unentered?.settle(on: nil)
  }

  /// The dependency has finished. No lock is held.
  ///
  /// - Parameter worker: the worker that finished it; nil if it had finished before this was
  ///   entered.
  final func settle(on worker: Worker?) {
    guard status.compareExchange(Self.armed, Self.settled) else { return }
    usesOfDependent.note()
    guard let dependent = dependent.take() else { return }
    letGo(dependent, on: worker)
  }

  /// Cancels the dependent if the dependency did not end as required, and counts the dependency
  /// off.
  ///
  /// Subclasses override it. Called once, by the thread that settled it, under no lock.
  func letGo(_ dependent: Procedure, on worker: Worker?) {
    let ended = dependency.ended(for: dependent)
    // Cancel it first: once counted off, it might start on another thread.
    if let objection = requirement.objection(to: dependency) {
      if let ended { dependent.withCore { $0.noteDependency(ended) } }
      dependent.cancel(withError: objection)
    }
    dependent.dependencyFinished(onWorkerOf: worker?.list, after: ended)
  }

  /// Carries out the work that `letGo(_:on:)` has left for the dependent's turn, which the caller
  /// holds. Subclasses override it.
  func carryOut(for dependent: Procedure) {}

  /// The dependent no longer waits for it. No lock is held.
  ///
  /// - Returns: false if it was settled before: then the dependency's thread counts it off.
  final func revoke() -> Bool {
    guard status.compareExchange(Self.armed, Self.revoked) else { return false }
    usesOfDependent.note()
    dependent = nil
    wasRevoked()
    // It may not have been entered yet: then the thread that enters it finds it revoked.
    var pruned = dependency.withCore { $0.dependents.takeRevokedLatest() }
    pruned.release()
    return true
  }

  /// Releases the user's values, if there are any: the dependency's row may keep it for a long
  /// time. Subclasses override it.
  ///
  /// Called once, by the thread that revoked it, under no lock.
  func wasRevoked() {}

  /// The dependent has finished.
  final func leave() {
    // Only a dependent that was cancelled finishes before its dependencies.
    if status.load() == Self.armed { _ = revoke() }
  }
}

/// The dependencies of one procedure: a row that is linked through its entries, the latest first.
/// It owns them.
///
/// Guarded by the procedure's lock.
struct Dependencies: Sendable {
  fileprivate var latest: Dependency?

  var isEmpty: Bool { @inline(__always) get { latest == nil } }

  /// The procedures that it waits for, or waited for, in the order in which they were added.
  var procedures: [Procedure] { procedures { _ in true } }

  /// The procedures that it waits for now.
  var awaitedProcedures: [Procedure] { procedures(where: \.isArmed) }

  /// The procedures that the user has added.
  var declaredProcedures: [Procedure] { procedures(where: \.isDeclared) }

  private func procedures(where isWanted: (Dependency) -> Bool) -> [Procedure] {
    var procedures: [Procedure] = []
    var next = latest
    while let dependency = next {
      if !dependency.isTakenBack, isWanted(dependency) { procedures.append(dependency.dependency) }
      next = dependency.nextOfDependent
    }
    procedures.reverse()
    return procedures
  }

  /// The first procedure that it waits for. Costs the number of dependencies.
  var firstAwaited: Procedure? {
    var (first, next) = (Dependency?.none, latest)
    while let dependency = next {
      if !dependency.isTakenBack, dependency.isArmed { first = dependency }
      next = dependency.nextOfDependent
    }
    return first?.dependency
  }

  @inline(__always)
  mutating func add(_ new: consuming Dependency) {
    new.nextOfDependent = latest.take()
    latest = new
  }

  /// Takes the row apart, the latest first.
  @inline(__always)
  private mutating func takeEach(_ body: (consuming Dependency) -> Void) {
    // The separate variable is necessary: a loop that changes `latest` each time crashes the
    // optimiser of Swift 6.3.
    var rest = latest.take()
    while let next = rest.take() {
      rest = next.nextOfDependent.take()
      body(consume next)
    }
  }

  /// The procedure is enqueued, and waits for all of them.
  ///
  /// - Returns: all entries, to be entered in the order in which they were added, when the lock has
  ///   been released; and their number.
  mutating func arm(for dependent: Procedure) -> (armed: Dependents, count: Int) {
    var (armed, count) = (Dependents(), 0)
    var rest = latest
    while let next = rest.take() {
      rest = next.nextOfDependent
      if next.isTakenBack { continue }
      next.arm(for: dependent)
      // This restores the order in which they were added: the row begins with the latest.
      armed.prepend(consume next)
      count += 1
    }
    return (armed, count)
  }

  /// Removes all dependencies on one procedure that the user has added, from a row that is not
  /// long.
  ///
  /// - Returns: the removed entries, in the order in which they were added; nil for a long row,
  ///   which needs an index.
  mutating func remove(on procedure: Procedure) -> Dependencies? {
    var (next, count) = (latest, 0)
    while let dependency = next, count < Self.fewest {
      next = dependency.nextOfDependent
      count += 1
    }
    return next == nil ? take { $0.dependency === procedure && $0.isDeclared } : nil
  }

  /// How many of the latest entries are searched for a done one.
  private static let fewest = 64

  /// An entry has handed over, and is not needed any more. If there are many, some stay until the
  /// last one leaves, so that a long row is not searched for each.
  ///
  /// - Returns: the caller releases it without the lock: a closure may keep the user's values.
  mutating func forget(_ done: Dependency, isLast: Bool) -> Dependencies {
    isLast ? take { $0.isDone } : take(amongLatest: Self.fewest) { $0 === done }
  }

  /// Removes the entries that the user has taken back.
  fileprivate mutating func takeTakenBack() -> Dependencies { take { $0.isTakenBack } }

  private mutating func take(
    amongLatest count: Int = .max, where isTaken: (Dependency) -> Bool
  ) -> Dependencies {
    var (taken, last, left) = (Dependencies(), Dependency?.none, count)
    var rest = latest
    while left > 0, let next = rest.take() {
      rest = next.nextOfDependent
      if !isTaken(next) {
        last = next
      } else {
        if let last { last.nextOfDependent = rest } else { latest = rest }
        taken.add(next)
      }
      left -= 1
    }
    return taken
  }

  /// Revokes entries that the user has taken back. No lock is held.
  ///
  /// - Returns: how many had not been settled before.
  @inline(never)
  mutating func revokeAll() -> Int {
    var count = 0
    takeEach { if $0.revoke() { count += 1 } }
    return count
  }

  /// The procedure has finished, and no longer has them. No lock is held.
  mutating func leave() {
    takeEach { $0.leave() }
  }

  /// Releases them. No lock is held.
  @inline(never)
  mutating func release() {
    takeEach { _ in }
  }

  /// Releases the dependencies of a procedure that is deallocated without having finished, and of
  /// each procedure that is deallocated with it: without recursion, since a chain may be 300,000
  /// long.
  mutating func releaseAll() {
    var released: [Procedure] = []
    takeProcedures(into: &released)
    while var procedure = released.popLast() {
      guard isKnownUniquelyReferenced(&procedure) else { continue }
      // Release them without the lock: a closure that hands something over may keep the user's
      // values.
      var below = procedure.withCore { exchange(&$0.dependencies, with: Dependencies()) }
      below.takeProcedures(into: &released)
    }
  }

  /// Releases the dependencies, and collects the procedures that they were on.
  private mutating func takeProcedures(into procedures: inout [Procedure]) {
    takeEach { procedures.append($0.dependency) }
  }
}

/// Finds the dependencies of one procedure by the procedures that they are on, so that many can be
/// taken back in O(1) each. Made when one is taken back from a long row.
///
/// A dependency that is taken back stays in the row until more than half of the row is taken back.
/// Then these leave together.
final class DependencyIndex: Attachment, @unchecked Sendable {
  /// The dependencies that the user has added, by the identity of the procedure, in the order in
  /// which they were added.
  private var known: [ObjectIdentifier: [Dependency]] = [:]
  /// The latest known entry of the row; all earlier entries are known.
  private var latestKnown: Dependency?
  private var count = 0
  private var takenBackCount = 0

  /// - Returns: the dependencies on `procedure`, and the entries that leave the row.
  fileprivate func takeBack(
    on procedure: Procedure, from row: inout Dependencies
  ) -> (taken: [Dependency], leaving: Dependencies) {
    learn(row)
    let taken = known.removeValue(forKey: ObjectIdentifier(procedure)) ?? []
    for dependency in taken { dependency.isTakenBack = true }
    takenBackCount += taken.count
    guard takenBackCount > count / 2 else { return (taken, Dependencies()) }
    let leaving = row.takeTakenBack()
    (count, takenBackCount, latestKnown) = (count - takenBackCount, 0, row.latest)
    return (taken, leaving)
  }

  /// Adds the entries that were added since. Amortised O(1) for each.
  private func learn(_ row: borrowing Dependencies) {
    var (new, next) = ([Dependency](), row.latest)
    while let dependency = next, dependency !== latestKnown {
      new.append(dependency)
      next = dependency.nextOfDependent
    }
    count += new.count
    for dependency in new.reversed() where dependency.isDeclared {
      known[ObjectIdentifier(dependency.dependency), default: []].append(dependency)
    }
    latestKnown = row.latest
  }
}

/// Dependencies that the user has taken back.
struct TakenBackDependencies: Sendable {
  fileprivate var fromRow = Dependencies()
  fileprivate var byIndex: [Dependency] = []
  /// Entries that have left the row: released without the lock.
  fileprivate var leaving = Dependencies()
  fileprivate var index: DependencyIndex?

  /// - Returns: how many had not been settled before. No lock is held.
  mutating func revokeAll() -> Int {
    var count = fromRow.revokeAll()
    for dependency in byIndex where dependency.revoke() { count += 1 }
    leaving.release()
    return count
  }
}

extension ProcedureCore {
  /// Takes back all dependencies on `procedure` that the user has added. O(1), amortised.
  mutating func takeBackDependencies(on procedure: Procedure) -> TakenBackDependencies {
    var result = TakenBackDependencies()
    if let removed = dependencies.remove(on: procedure) {
      result.index = forgetDependencyIndex()
      result.fromRow = removed
    } else {
      let index = attachments.with(DependencyIndex.self) { $0 }
      (result.byIndex, result.leaving) = index.takeBack(on: procedure, from: &dependencies)
    }
    return result
  }

  /// Drops the index, which would keep other entries that leave the row.
  ///
  /// - Returns: the index, to be released without the lock.
  mutating func forgetDependencyIndex() -> DependencyIndex? {
    attachments.isEmpty ? nil : attachments.remove(DependencyIndex.self)
  }
}

/// The dependencies on one procedure: a row that is linked through its entries, the latest first.
/// It owns them.
///
/// Guarded by that procedure's lock. The same links connect the entries that an enqueued procedure
/// is about to enter.
struct Dependents: Sendable {
  /// How many entries may be added between two searches for revoked ones, in addition to the number
  /// that the first has left.
  private static let patience: UInt32 = 32

  private var latest: Dependency?

  var isEmpty: Bool { @inline(__always) get { latest == nil } }

  @inline(__always)
  fileprivate mutating func prepend(_ new: consuming Dependency) {
    new.nextOfDependency = latest.take()
    latest = new
  }

  /// Takes the row apart, the latest first.
  @inline(__always)
  private mutating func takeEach(_ body: (consuming Dependency) -> Void) {
    var rest = latest.take()
    while let next = rest.take() {
      rest = next.nextOfDependency.take()
      body(consume next)
    }
  }

  // MARK: Entering and revoking

  /// Enters each at its dependency. No lock is held.
  @inline(never)
  mutating func enterAll() {
    takeEach { Dependency.enter($0) }
  }

  /// Adds an entry, unless it has been revoked.
  ///
  /// - Returns: removed entries, which the caller releases without the lock.
  @inline(__always)
  fileprivate mutating func enter(_ new: consuming Dependency) -> Dependents {
    var patience = latest?.patience ?? Self.patience
    var pruned = Dependents()
    if patience == 0 {
      pruned = takeRevoked()
      patience = latest?.patience ?? Self.patience
    }
    if new.isRevoked {
      pruned.prepend(new)
    } else {
      new.patience = patience - 1
      prepend(new)
    }
    return pruned
  }

  /// Removes revoked entries, as long as they are the latest.
  ///
  /// - Returns: the removed entries, to be released without the lock.
  fileprivate mutating func takeRevokedLatest() -> Dependents {
    var revoked = Dependents()
    while let next = latest, next.isRevoked {
      latest = next.nextOfDependency.take()
      latest?.patience = next.patience
      revoked.prepend(next)
    }
    return revoked
  }

  /// Removes all revoked entries. Amortised O(1) for each that is entered: a dependency whose
  /// dependents come and go keeps little more than twice as many entries as it has dependents.
  @inline(never)
  private mutating func takeRevoked() -> Dependents {
    var (revoked, last, count) = (Dependents(), Dependency?.none, UInt32(0))
    var rest = latest
    while let next = rest.take() {
      rest = next.nextOfDependency
      if !next.isRevoked {
        last = next
        count += 1
      } else {
        if let last { last.nextOfDependency = rest } else { latest = rest }
        revoked.prepend(next)
      }
    }
    latest?.patience = Self.patience + count
    return revoked
  }

  // MARK: The end

  /// The procedure has finished: settles all, in the order in which they were entered. No lock is
  /// held.
  @inline(never)
  mutating func settleAll(on worker: Worker) {
    var inOrder = Dependents()
    takeEach { inOrder.prepend($0) }
    inOrder.takeEach { $0.settle(on: worker) }
  }

  /// Releases them. No lock is held.
  @inline(never)
  mutating func release() {
    takeEach { _ in }
  }
}

/// Both rows of a finished procedure.
struct DependencyRows: Sendable {
  private var dependencies = Dependencies()
  private var dependents = Dependents()

  init() {}

  fileprivate init(_ dependencies: consuming Dependencies, _ dependents: consuming Dependents) {
    (self.dependencies, self.dependents) = (dependencies, dependents)
  }

  var isEmpty: Bool { dependencies.isEmpty && dependents.isEmpty }

  /// Leaves the dependencies, and settles the dependents. No lock is held.
  ///
  /// It must be called before the procedure leaves its list: the worker takes its next job in the
  /// critical section in which the procedure leaves, and the job may be one of the dependents, in
  /// its order (Q1).
  @inline(__always)
  mutating func release(on worker: Worker) {
    if !dependencies.isEmpty { dependencies.leave() }
    if !dependents.isEmpty { dependents.settleAll(on: worker) }
  }
}

extension ProcedureCore {
  /// Takes out both rows: the procedure has finished.
  @inline(__always)
  mutating func takeRows() -> DependencyRows {
    DependencyRows(
      exchange(&dependencies, with: Dependencies()), exchange(&dependents, with: Dependents()))
  }
}
