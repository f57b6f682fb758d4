internal import ProcedurePrimitives

extension Procedure {
  /// How much of the work is done, from 0 to 1.
  ///
  /// 1 when it has finished, however it ended. Before, the fraction of the last
  /// `report(fractionCompleted:)`; for a group that reports nothing, the mean of its children's
  /// fractions, by their `progressWeight`; for a retry, the fraction of its current attempt.
  /// Reading it of a group reads it of each child.
  public final var fractionCompleted: Double {
    // Iterative: groups may be nested thousands deep.
    var sum = 0.0
    var unvisited: [(procedure: Procedure, share: Double)] = [(self, 1)]
    while let (procedure, share) = unvisited.popLast() {
      if let fraction = procedure.reportedFraction {
        sum += share * fraction
      } else if let source = procedure.progressSource {
        unvisited.append((source, share))
      } else if let children = procedure.childList?.children {
        let total = children.reduce(0) { $0 + $1.progressWeight }
        guard total > 0 else { continue }
        for child in children { unvisited.append((child, share * child.progressWeight / total)) }
      }
    }
    return min(sum, 1)
  }

  /// The fraction without looking at children.
  private var reportedFraction: Double? {
    isFinished ? 1 : peek { $0.progress?.fraction } ?? (childList == nil ? 0 : nil)
  }

  /// Says how much of the work is done. From any thread, as often as you like.
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
  /// - Parameter fraction: from 0 to 1; what lies outside is taken as the nearer of them. It may
  ///   become less. After the finish it is ignored.
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

  /// How much this procedure counts in its group's fraction, compared with its siblings; default 1.
  ///
  /// Set it before adding it to the group: once the group has been asked for its fraction, another weight only reads
  /// back. Zero for what does not count; more than 10¹⁰⁰ counts as that, so that
  /// sums stay finite. A negative number, infinity or NaN, such as 0 / 0, is a programmer error and traps.
  public final var progressWeight: Double {
    get { peek { $0.progress?.weight } ?? 1 }
    set {
      if !(newValue >= 0 && newValue.isFinite) {
        stopBecauseOfMisuse(
          "progressWeight of '\(name)' must be zero or more, and finite, not \(newValue); it is the share of "
            + "the procedure beside its siblings.")
      }
      withCore { core in
        core.attachments.with(OwnProgress.self) { $0.weight = min(newValue, 1e100) }
      }
    }
  }

  /// How much of the work is done, from now on: the present fraction, and each new one.
  ///
  /// ```swift
  /// for await fraction in export.progressUpdates { bar.value = fraction }
  /// ```
  ///
  /// A slow reader gets the latest, not all. It ends with 1 when the procedure has finished;
  /// it also ends when the procedure goes, and when the reading task is cancelled. While a group is
  /// watched, a change in it costs its depth, and children that are added start when it knows them.
  public final var progressUpdates: ProgressUpdates {
    let (node, isNew) = node()
    // The procedure, and all below it, report to nodes from here on.
    if isNew { Self.watch([(self, node)]) }
    return node.watch(for: self)
  }

  /// For what shows the fraction by itself: that there is a change, and the fraction now.
  ///
  /// Unlike `progressUpdates`, it has an element also for a change that ends where it began.
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
        // First the observer, then the children there are: none is missed, and one may come twice.
        group.addDidAddProcedureBlockObserver { [weak node] group, added in
          guard let node, added.isChild(of: group) else { return }
          watch(added.join(node, of: group))
        }
        for child in group.children { unvisited += child.join(node, of: group) }
      }
      if procedure.isFinished { node.finish() }
      procedure.addDidFinishBlockObserver { _, _ in node.finish() }
    }
  }

  /// Begins to be watched. The procedure with its node, if that has to be set up.
  private func join(_ parent: ProgressNode, of group: Procedure) -> [(Procedure, ProgressNode)] {
    let source = group.progressSource
    guard source == nil || source === self else { return [] }
    let (node, isNew) = node()
    node.join(parent, replacingOthers: source != nil)
    return isNew ? [(self, node)] : []
  }

  private func isChild(of group: Procedure) -> Bool {
    isFinished || peek { $0.list } === group.childList
  }
}

/// How far a procedure is by its own word.
final class OwnProgress: Attachment, @unchecked Sendable {
  /// The fraction that it reported last.
  @safe @exclusivity(unchecked) var fraction: Double?
  @safe @exclusivity(unchecked) var weight: Double?
  /// While a reader watches it.
  @safe @exclusivity(unchecked) var node: ProgressNode?

  override var afterFinish: Attachment? { self }

  override var indicatesOngoingWork: Bool { fraction != nil }
}

extension ProcedureCore {
  fileprivate var progress: OwnProgress? { attachments.existing() }
}
