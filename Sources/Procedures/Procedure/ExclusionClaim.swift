/// What one procedure excludes others from, and what it has asked for. Guarded by its lock.
final class ExclusionClaim: @unchecked Sendable {
  private var limits: [ExclusionLimit] = []
  /// Where each category is in `limits`, if there are many.
  private var indices: [ExclusionCategory: Int]?
  private(set) var request: ExclusionRequest?

  /// A condition was added that names these.
  func add(_ new: [ExclusionLimit]) {
    for limit in new {
      if let known = index(of: limit.category) {
        // Of two counts that one procedure names, the lower is kept.
        if limit.count < limits[known].count { limits[known] = limit }
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

  /// What the procedure asks for, now that nothing else is missing.
  func makeRequest(for procedure: Procedure, in list: ReadyList) -> ExclusionRequest {
    if let request { return request }
    let request = ExclusionRequest(limits, for: procedure, in: list)
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
  /// The one that asks: all requests are made above, each for a procedure in its list.
  var procedure: Procedure { unsafe unsafeDowncast(owner, to: Procedure.self) }

  var list: ReadyList { unsafe unsafeDowncast(ownerList, to: ReadyList.self) }
}

extension ExclusionObstacle {
  /// In the order in which they asked.
  var procedures: [Procedure] { holders.map(\.procedure) }
}
