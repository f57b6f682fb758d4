extension Contest {
  /// Every case, in the order in which they run.
  static let all: [Contest] = [
    noOperation, noOperationBatch, noOperationThreads, serial, block, chain, group, observers,
  ]
}
