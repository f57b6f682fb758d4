import Procedures

extension Contest {
  /// A chain: each procedure depends on its predecessor.
  static let link = Contest(
    name: "link", ceiling: 1.2, aim: 1,
    ours: Side("link of a chain") { count in await ProcedureWork.runChain(count) },
    theirs: Side("block on a serial queue") { count in
      await DispatchWork.runSerially(count) { Tally.note() }
    })

  /// One of two procedures, of which the first hands its value to the second.
  static let injected = Contest(
    name: "injected", ceiling: 2,
    ours: Side("procedure of a pair that hands on a value") { count in
      let queue = ProcedureQueue()
      for number in 0..<count / 2 {
        let source = ResultProcedure { noted(number) }
        let target = TransformProcedure<Int, Int> { noted($0 + 1) }
        target.injectResult(from: source)
        queue.add(source, target)
      }
      await queue.waitUntilAllFinished()
    },
    theirs: noOperations)
}

@Sendable private func noted(_ value: Int) -> Int {
  Tally.note()
  return value
}
