/// The categories of one procedure, and its request for them. Guarded by its lock.
final class ExclusionClaim: @unchecked Sendable {
  @safe @exclusivity(unchecked) private var limits: [ExclusionLimit] = []
  /// Where each category is in `limits`, if there are many.
  @safe @exclusivity(unchecked) private var indices: [ExclusionCategory: Int]?
  @safe @exclusivity(unchecked) private(set) var request: ExclusionRequest?

  /// A condition was added that names these.
  func add(_ new: [ExclusionLimit]) {
    // As mostly: the same array serves.
    if limits.isEmpty, new.count == 1 {
      limits = new
      return
    }
    for limit in new {
      if let known = index(of: limit.category) {
        // If one procedure names two counts, the lower one is kept.
        limits[known] = limits[known].merged(with: limit)
      } else {
        indices?[limit.category] = limits.count
        limits.append(limit)
      }
    }
  }

  private func index(of category: ExclusionCategory) -> Int? {
    if limits.count <= 8 { return limits.firstIndex { $0.category == category } }
    if indices == nil {
      indices = Dictionary(uniqueKeysWithValues: zip(limits.map(\.category), 0...))
    }
    return indices?[category]
  }

  /// The procedure's request, now that nothing else is missing.
  func makeRequest(
    for procedure: Procedure, in list: ReadyList, priority: ProcedurePriority
  ) -> ExclusionRequest {
    if let request { return request }
    let request = ExclusionRequest(limits, for: procedure, in: list, priority: priority)
    self.request = request
    return request
  }

  /// It asks anew later. What is returned is released without a lock.
  func takeRequest() -> ExclusionRequest? { request.take() }

  /// What it had asked for, and has given up, is not all any more. Released as by `takeRequest()`.
  func takeIncompleteRequest() -> ExclusionRequest? {
    // A second reference would make each limit that is added a copy of all.
    request?.forgetLimits()
    return request.take()
  }
}

extension ExclusionRequest {
  /// The procedure that asks.
  var procedure: Procedure {
    guard let procedure = owner as? Procedure else { stopAsForeign() }
    return procedure
  }

  var list: ReadyList {
    guard let list = ownerList as? ReadyList else { stopAsForeign() }
    return list
  }

  private func stopAsForeign() -> Never {
    preconditionFailure(
      "Internal inconsistency: what asks for categories is no procedure in a list")
  }
}

extension ExclusionObstacle {
  /// In the order in which they first asked.
  var procedures: [Procedure] { holders.map(\.procedure) }
}
