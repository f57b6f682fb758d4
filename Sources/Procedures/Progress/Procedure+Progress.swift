internal import ProcedurePrimitives

extension Procedure {
  /// The fraction of the work that is done, from 0 to 1.
  ///
  /// It is 1 once the procedure has finished, even with errors. Before, it is the last reported
  /// fraction; for a group that reports nothing, the mean of its children's fractions by
  /// `progressWeight`, including finished children that it no longer keeps; for a retry, the
  /// fraction of its current attempt. Reading a group's fraction visits all of its descendants.
  public final var fractionCompleted: Double {
    // Iterative: groups may be nested thousands deep.
    var sum = 0.0
    var unvisited: [(procedure: Procedure, share: Double)] = [(self, 1)]
    while let (procedure, share) = unvisited.popLast() {
      if let fraction = procedure.reportedFraction {
        sum += share * fraction
      } else if let source = procedure.progressSource {
        unvisited.append((source, share))
      } else if let (children, done) = procedure.childList?.childrenAndForgotten {
        let total = children.reduce(done) { $0 + $1.progressWeight }
        guard total > 0 else { continue }
        sum += share * done / total
        for child in children { unvisited.append((child, share * child.progressWeight / total)) }
      }
    }
    return min(sum, 1)
  }

  /// The procedure's own fraction; nil for a group that reports nothing.
  private var reportedFraction: Double? {
    isFinished ? 1 : peek { $0.progress?.value.fraction } ?? (childList == nil ? 0 : nil)
  }

  /// Reports how much of the work is done. You may call it on any thread, any number of times.
  ///
  /// ```swift
  /// AsyncProcedure { procedure in
  ///   for (index, page) in pages.enumerated() {
  ///     try await render(page)
  ///     procedure.report(fractionCompleted: Double(index + 1) / Double(pages.count))
  ///   }
  /// }
  /// ```
  ///
  /// - Parameter fraction: from 0 to 1; values outside are clamped, and NaN counts as 0. It may
  ///   decrease. After the finish it is ignored.
  public final func report(fractionCompleted fraction: Double) {
    let fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    let node = withCore { core in
      core.attachments.with(OwnProgress.self) { progress in
        progress.fraction = fraction
        return progress.node
      }
    }
    node?.report(fraction)
  }

  /// The procedure's share in its group's fraction, relative to its siblings; default 1.
  ///
  /// Set it before you add the procedure to its group: once a reader watches the group's
  /// `progressUpdates`, they keep the weight that they have. Zero does not count. Weights above
  /// 10¹⁰⁰ are reduced to that, so that sums stay finite. A negative number, infinity or NaN, such
  /// as 0 / 0, is a programmer error and traps.
  public final var progressWeight: Double {
    get { peek { $0.progress?.value.weight } ?? 1 }
    set {
      if !(newValue >= 0 && newValue.isFinite) {
        stopBecauseOfMisuse(
          "progressWeight of '\(name)' must be zero or more, and finite, not \(newValue); it is the share of "
            + "the procedure beside its siblings.")
      }
      Self.weightsAreUsed.store(1)
      withCore { core in
        core.attachments.with(OwnProgress.self) { $0.weight = min(newValue, 1e100) }
      }
    }
  }

  /// Whether any procedure of the process ever got a weight. If not, none is read.
  static let weightsAreUsed = AtomicByte(0)

  /// The fraction of the work that is done: the present one, and each new one from now on.
  ///
  /// ```swift
  /// for await fraction in export.progressUpdates { bar.value = fraction }
  /// ```
  ///
  /// A slow reader gets the latest fraction, not all. The sequence ends with 1 when the procedure
  /// has finished; it also ends when the procedure is deallocated, and when the reading task is
  /// cancelled. While a group is watched, each change below it costs time in proportion to its
  /// depth, and added children start after the group's observers have been called for them.
  public final var progressUpdates: ProgressUpdates {
    let (node, isNew) = node()
    // From now on the procedure and its descendants report to nodes.
    if isNew { Self.watch([(self, node)]) }
    return node.watch(for: self)
  }

  /// Signals for changes, and the latest fraction.
  ///
  /// Unlike `progressUpdates`, it signals even if the fraction has returned to its previous value.
  package final var fractionChanges: (changes: AsyncStream<Void>, latest: @Sendable () -> Double) {
    let updates = progressUpdates
    let watcher = updates.watcher
    return (updates.changes, { watcher.fraction })
  }

  // MARK: Watching

  private func node() -> (ProgressNode, isNew: Bool) {
    withCore { core in
      core.attachments.with(OwnProgress.self) { progress in
        if let node = progress.node { return (node, false) }
        let node = ProgressNode(weight: progress.weight ?? 1, reported: progress.fraction)
        progress.node = node
        return (node, true)
      }
    }
  }

  /// Iterative: groups may be nested thousands deep.
  private static func watch(_ new: [(Procedure, ProgressNode)]) {
    var unvisited = new
    while let (procedure, node) = unvisited.popLast() {
      if let group = procedure as? GroupProcedure {
        // Add the observer first, so that no child is missed; one may be visited twice.
        group.addDidAddProcedureBlockObserver { [weak node] group, added in
          guard let node, added.isChild(of: group) else { return }
          watch(added.join(node, of: group))
        }
        let (children, done) = group.list.childrenAndForgotten
        if done > 0, !group.showsOnlyPrincipal { node.add(finished: done) }
        for child in children { unvisited += child.join(node, of: group) }
      }
      if procedure.isFinished { node.finish() }
      procedure.addDidFinishBlockObserver { _, _ in node.finish() }
    }
  }

  /// Joins the parent's node. Returns the procedure if its node is new, and must be watched.
  private func join(_ parent: ProgressNode, of group: Procedure) -> [(Procedure, ProgressNode)] {
    let source = group.progressSource
    guard source == nil || source === self else { return [] }
    let (node, isNew) = node()
    node.join(parent, replacingOthers: source != nil)
    return isNew ? [(self, node)] : []
  }

  /// The child whose progress counts as the group's; nil for the progress of all children together.
  private var progressSource: Procedure? {
    showsOnlyPrincipal ? asGroup?.principal : nil
  }

  private var showsOnlyPrincipal: Bool {
    type(of: self).traits.contains(.onlyPrincipalCounts)
  }

  private func isChild(of group: Procedure) -> Bool {
    isFinished || peek { $0.list } === group.childList
  }
}

/// The progress that a procedure itself reported.
struct OwnProgress: AttachedValue {
  var fraction: Double?
  var weight: Double?
  /// Set once a reader watches this procedure or a group around it.
  var node: ProgressNode?

  static var isKeptAfterFinish: Bool { true }

  var indicatesOngoingWork: Bool { fraction != nil }
}

extension ProcedureCore {
  fileprivate var progress: Attached<OwnProgress>? { attachments.existing() }
}
