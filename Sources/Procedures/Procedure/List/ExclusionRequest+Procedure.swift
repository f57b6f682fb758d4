extension ExclusionRequest {
  /// The one that asks: `ExclusionClaim` makes all requests, each for a procedure in its list.
  var procedure: Procedure { unsafe unsafeDowncast(owner, to: Procedure.self) }

  var list: ReadyList { unsafe unsafeDowncast(ownerList, to: ReadyList.self) }
}

extension ExclusionObstacle {
  /// In the order in which they asked.
  var procedures: [Procedure] { holders.map(\.procedure) }
}
