import Foundation
import Procedures

extension Contest {
  /// What it costs to exclude others.
  static let exclusion = Contest(
    name: "exclusion", count: 20_000,
    entries: [
      Entry("procedure, excludes nobody") { count in
        await OwnQueue.run((0..<count).map { _ in NoOperation() })
      },
      Entry("procedure, one category each") { count in
        await runExclusive(count, categories: count)
      },
      Entry("procedure, 100 categories") { count in await runExclusive(count, categories: 100) },
      Entry("procedure, one category for all") { count in
        await runExclusive(count, categories: 1)
      },
      Entry("100 serial DispatchQueues", .dispatch) { count in
        let queues = (0..<100).map { _ in BareDispatch.serialQueue() }
        let group = DispatchGroup()
        for index in 0..<count { queues[index % 100].async(group: group) { Tally.note() } }
        await BareDispatch.finished(group)
      },
      Entry("serial DispatchQueue for all", .dispatch) { count in
        await BareDispatch.run(count, on: BareDispatch.serialQueue()) { Tally.note() }
      },
    ])

  private static func runExclusive(_ count: Int, categories: Int) async {
    let domain = ExclusionDomain(name: "benchmark")
    await OwnQueue.run(
      (0..<count).map { index in
        let procedure = NoOperation()
        procedure.add(
          condition: MutuallyExclusive(named: "\(index % categories)", in: domain))
        return procedure
      })
  }
}
