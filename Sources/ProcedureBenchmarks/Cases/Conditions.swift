import Procedures

extension Contest {
  /// What it costs to be asked before running. The others know no conditions.
  static let conditions = Contest(
    name: "conditions", count: 50_000,
    entries: [
      Entry("procedure") { count in await OwnQueue.run((0..<count).map { _ in NoOperation() }) },
      Entry("one synchronous condition", tally: 2) { count in
        await OwnQueue.run((0..<count).map { _ in make(under: BlockCondition { noted() }) })
      },
      Entry("one asynchronous condition", share: 10, tally: 2) { count in
        await OwnQueue.run((0..<count).map { _ in make(under: AsyncCondition { noted() }) })
      },
      Entry("each of many on one procedure") { count in
        let procedure = BlockProcedure {}
        for _ in 0..<count { procedure.add(condition: BlockCondition { noted() }) }
        await OwnQueue.run([procedure])
      },
    ])

  private static func make(under condition: some Condition) -> Procedure {
    let procedure = NoOperation()
    procedure.add(condition: condition)
    return procedure
  }

  @Sendable private static func noted() -> Bool {
    Tally.note()
    return true
  }
}
