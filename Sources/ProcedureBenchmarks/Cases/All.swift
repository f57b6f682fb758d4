extension Contest {
  /// Every case, in the order in which they run.
  static let all: [Contest] =
    [
      noOperation, noOperationBatch, noOperationThreads, serial, block, chain, fanOut, randomGraph,
      group, nestedGroups, deepGroups, observers, conditions, exclusion, injection, asynchronous,
      watching,
    ]
    + [cancelPending, cancelGroups, cancelLatency, idleLatency]
    + [delays, delaysAmongMillion, delayLateness]
    + [
      tokenPoll, tokenPollThreads, tokenCancel, tokenRegistration, tokenFewerHandlers,
      tokenHandlers, tokenChildren, tokenTasks, tokenTask,
    ]
    + (LiveBytes.isKnown ? [bytesOfWork, bytesOfTime, bytesOfTokens] : [])
    + [scale, scaleOfChain] + growth
}
