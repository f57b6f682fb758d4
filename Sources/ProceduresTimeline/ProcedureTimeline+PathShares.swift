internal import Procedures

extension ProcedureTimeline {
  /// The part of the critical path's time that one cause took.
  public struct PathShare: Sendable, Hashable {
    /// The cause that took the time.
    public enum Kind: Sendable, Hashable, CustomStringConvertible {
      /// A step ran, and its successor could not have run meanwhile.
      case work
      /// A step waited, or waits; or a step ran while a later one waited for a slot, an exclusion or a
      /// barrier.
      case wait(WaitCause)
      /// The next step was not on the queue yet.
      case notEnqueued

      /// A text for people: `work`, `slot`, `not enqueued yet`.
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

    /// The name in the cause: the condition, the category, the queue with its limit, or the event.
    /// For barriers and delays of one queue, the name of the first large one.
    public let name: String?

    /// A text for people: `slot of queue 'build' (limit 2)`, `rate 'mail' (10 in 1 s)`,
    /// `barrier 'clean up' and 7 more`.
    public let label: String

    /// The time that the cause took.
    public let total: Duration

    /// Its fraction of the whole time: the fractions of all shares add up to 1.
    public let fraction: Double

    /// The number of the entry with the largest part of the share.
    public let longest: Int

    /// The time of that entry in the share.
    public let longestDuration: Duration

    /// The verdict's note on the share.
    let note: String
  }
}

extension ProcedureTimeline.Snapshot {
  /// The critical path's time by cause, the greatest share first.
  ///
  /// The shares add up to `duration`. The time of a running step counts for a slot, an exclusion or
  /// a barrier while that kept a later step back, and as work otherwise.
  ///
  /// ```swift
  /// for share in timeline.snapshot().criticalPathShares where share.fraction >= 0.01 {
  ///   print(share.label, share.total)
  /// }
  /// ```
  public var criticalPathShares: [ProcedureTimeline.PathShare] { shares(of: pathSegments) }

  func shares(of segments: [PathSegment]) -> [ProcedureTimeline.PathShare] {
    struct Key: Hashable {
      let kind: ProcedureTimeline.PathShare.Kind
      let subject: String?
    }
    var parts: [Key: [PathSegment]] = [:]
    var order: [Key] = []
    for segment in segments {
      let key = Key(kind: segment.kind, subject: segment.home ?? segment.text)
      if parts[key] == nil { order.append(key) }
      parts[key, default: []].append(segment)
    }
    let shares = order.map { share(of: $0.kind, parts[$0] ?? []) }
    // Equal shares keep their order, so that the same run gives the same text.
    return shares.enumerated().sorted {
      ($1.element.total, $0.offset) < ($0.element.total, $1.offset)
    }.map(\.element)
  }

  private func share(
    of kind: ProcedureTimeline.PathShare.Kind, _ segments: [PathSegment]
  ) -> ProcedureTimeline.PathShare {
    let byEntry = segments.sums(by: \.place)
    let total = byEntry.reduce(0) { $0 + $1.sum }
    let longest = byEntry.max { ($0.sum, $1.key) < ($1.sum, $0.key) }
    // The first name with at least half of the greatest sum, since the greatest of nearly equal
    // ones would vary from run to run.
    let sums = segments.sums(by: \.text)
    let most = sums.map(\.sum).max() ?? 0
    let names = sums.filter { $0.sum >= most / 10 }
    let text = names.first { $0.sum >= most / 2 }?.key
    let name = segments.first { $0.text == text }?.name
    let label =
      kind.description + (text.map { " " + $0 } ?? "")
      + (names.count > 1 ? " and \(names.count - 1) more" : "")
    let longestTime = longest?.sum ?? 0
    return ProcedureTimeline.PathShare(
      kind: kind, name: name, label: label, total: .nanoseconds(total),
      fraction: Double(total) / Double(max(end - start, 1)),
      longest: longest.map { entries[$0.key].id } ?? 0,
      longestDuration: .nanoseconds(longestTime),
      note: note(
        on: kind, name, segments, total: total,
        longest: longest.map { (entries[$0.key], $0.sum) }))
  }

  /// One line about the causes of the critical path's time, the greatest share first; empty without
  /// a path.
  ///
  /// For example `Of 11 s on the critical path, 73 % is slot of queue 'build' (limit 2); 27 % work
  /// (longest: 'link', 3 s).`
  public var verdict: String { verdict(on: criticalPathShares) }

  func verdict(on shares: [ProcedureTimeline.PathShare]) -> String {
    let counting = shares.counting
    guard let first = counting.first else { return "" }
    func text(_ share: ProcedureTimeline.PathShare, _ verb: String) -> String {
      "\(share.percent) \(verb)\(share.label)\(share.note)"
    }
    let parts = [text(first, "is ")] + counting.dropFirst().prefix(4).map { text($0, "") }
    return "Of \(NumberText.time(end - start)) on the critical path, "
      + parts.joined(separator: "; ") + "."
  }
}

extension ProcedureTimeline.Entry {
  /// For example `, 90 % idle`: the part of its time in which its closure needed no thread; empty
  /// below 10 %. For a delay it says so, unless the name does.
  var runText: String {
    if stretches.contains(where: { $0.cause == .delay }) {
      return name.hasPrefix("Delay of ") ? "" : ", a delay"
    }
    guard let body else { return "" }
    let whole = body.parts.reduce(0) { $0 + Double($1.time) }
    let percent = Int((Double(body.idle.nanoseconds) / max(whole, 1) * 100).rounded())
    return percent < 10 ? "" : ", \(percent) % idle"
  }
}

extension [PathSegment] {
  /// Sums the lengths by key, in the order of the first segments.
  fileprivate func sums<Key: Hashable>(by key: (PathSegment) -> Key) -> [(key: Key, sum: Int64)] {
    var sums: [(key: Key, sum: Int64)] = []
    var places: [Key: Int] = [:]
    for segment in self {
      let key = key(segment)
      if let place = places[key] {
        sums[place].sum += segment.length
      } else {
        places[key] = sums.count
        sums.append((key, segment.length))
      }
    }
    return sums
  }
}

extension [ProcedureTimeline.PathShare] {
  /// The shares of at least 1 %; if there are none, the greatest one.
  var counting: [ProcedureTimeline.PathShare] {
    let counting = filter { $0.fraction >= 0.01 }
    return counting.isEmpty ? Array(prefix(1)) : counting
  }
}

extension ProcedureTimeline.PathShare {
  /// For example `73 %`.
  var percent: String { "\(Int((fraction * 100).rounded())) %" }
}
