internal import Procedures

extension ProcedureTimeline {
  /// How much of the critical path's time went to one thing.
  public struct PathShare: Sendable, Hashable {
    /// The cause that took the time.
    public enum Kind: Sendable, Hashable, CustomStringConvertible {
      /// A step ran, and what comes after it could not have run meanwhile.
      case work
      /// A step waited, or the next one did while a step ran: for a slot, an exclusion or a barrier.
      case wait(WaitCause)
      /// The next step was not on the queue yet.
      case notEnqueued

      /// For people: `work`, `slot`, `not enqueued yet`.
      public var description: String {
        switch self {
        case .work: "work"
        case .wait(let cause): cause.label
        case .notEnqueued: "not enqueued yet"
        }
      }
    }

    /// The cause that took the time.
    public let kind: Kind

    /// The name in the cause: the condition, the category, the queue with its limit, the event.
    public let name: String?

    /// How much of it.
    public let total: Duration

    /// How much of the whole time: all shares together are 1.
    public let fraction: Double

    /// The number of the entry that it was most of.
    public let longest: Int

    /// How much of it was that entry's.
    public let longestDuration: Duration
  }
}

extension ProcedureTimeline.Snapshot {
  /// The critical path's time by cause, the greatest share first.
  ///
  /// They add up to `duration`. The time in which a step ran counts for a slot, an exclusion or a barrier as long as
  /// the next step was kept back by that, and as work otherwise.
  ///
  /// ```swift
  /// for share in timeline.snapshot().criticalPathShares where share.fraction >= 0.01 {
  ///   print(share.kind, share.name ?? "", share.total)
  /// }
  /// ```
  public var criticalPathShares: [ProcedureTimeline.PathShare] { shares(of: pathSegments) }

  func shares(of segments: [PathSegment]) -> [ProcedureTimeline.PathShare] {
    struct Key: Hashable {
      let kind: ProcedureTimeline.PathShare.Kind
      let name: String?
    }
    var totals: [Key: Int64] = [:]
    var byEntry: [Key: [Int: Int64]] = [:]
    var order: [Key] = []
    for segment in segments {
      let key = Key(kind: segment.kind, name: segment.name)
      if totals[key] == nil { order.append(key) }
      totals[key, default: 0] += segment.length
      byEntry[key, default: [:]][segment.place, default: 0] += segment.length
    }
    let all = Double(max(end - start, 1))
    let shares = order.map { key in
      let total = totals[key] ?? 0
      let longest = byEntry[key]?.max { ($0.value, $1.key) < ($1.value, $0.key) }
      return ProcedureTimeline.PathShare(
        kind: key.kind, name: key.name, total: .nanoseconds(total), fraction: Double(total) / all,
        longest: longest.map { entries[$0.key].id } ?? 0,
        longestDuration: .nanoseconds(longest?.value ?? 0))
    }
    // Equal ones in the order in which they come: the same run gives the same text.
    return shares.enumerated().sorted {
      ($1.element.total, $0.offset) < ($0.element.total, $1.offset)
    }.map(\.element)
  }

  /// The causes of the critical path's time, in one line, the greatest share first: empty without a path.
  ///
  /// For example `Of 11 s on the critical path, 73 % is slot of queue 'build' (limit 2); 27 % work (longest:
  /// 'link', 3 s).`
  public var verdict: String { verdict(on: criticalPathShares) }

  func verdict(on shares: [ProcedureTimeline.PathShare]) -> String {
    let counting = shares.counting
    guard let first = counting.first else { return "" }
    func text(_ share: ProcedureTimeline.PathShare, _ verb: String) -> String {
      "\(share.percent) \(verb)\(label(of: share))\(longestText(of: share))"
    }
    let parts = [text(first, "is ")] + counting.dropFirst().prefix(4).map { text($0, "") }
    return "Of \(NumberText.time(end - start)) on the critical path, "
      + parts.joined(separator: "; ") + "."
  }

  /// For example `exclusion 'disk'`.
  func label(of share: ProcedureTimeline.PathShare) -> String {
    guard let name = share.name else { return share.kind.description }
    return switch share.kind {
    case .wait(.slot), .wait(.suspension): "\(share.kind) of \(name)"
    case .wait(.attemptDelay): "\(share.kind) of '\(name.shown)'"
    default: "\(share.kind) '\(name.shown)'"
    }
  }

  private func longestText(of share: ProcedureTimeline.PathShare) -> String {
    let entry = entry(share.longest)
    let name = entry?.name.shown ?? ""
    return switch share.kind {
    case .work:
      " (longest: '\(name)', \(NumberText.time(share.longestDuration.nanoseconds))\(entry?.idleText ?? ""))"
    case .notEnqueued: " ('\(name)')"
    case .wait(.attemptDelay): ""
    case .wait(.condition), .wait(.worker), .wait(.group): " ('\(name)')"
    case .wait(let cause):
      // A dependency on no recorded queue is known only by its dependents.
      cause.isAfterStart || cause == .dependency && share.name == nil ? " ('\(name)')" : ""
    }
  }
}

extension ProcedureTimeline.Entry {
  /// For example `, 90 % idle`: its closure needed no thread for so much of its time. Empty below a tenth.
  var idleText: String {
    guard let body else { return "" }
    let whole = body.parts.reduce(0) { $0 + Double($1.time) }
    let percent = Int((Double(body.idle.nanoseconds) / max(whole, 1) * 100).rounded())
    return percent < 10 ? "" : ", \(percent) % idle"
  }
}

extension [ProcedureTimeline.PathShare] {
  /// Those of at least 1 %; where there is none the greatest.
  var counting: [ProcedureTimeline.PathShare] {
    let counting = filter { $0.fraction >= 0.01 }
    return counting.isEmpty ? Array(prefix(1)) : counting
  }
}

extension ProcedureTimeline.PathShare {
  /// For example `73 %`.
  var percent: String { "\(Int((fraction * 100).rounded())) %" }
}
