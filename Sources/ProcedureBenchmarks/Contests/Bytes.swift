import Foundation
import Procedures

/// The bytes that malloc holds for each waiting item.
extension Contest {
  static let bytes = [
    bytes(
      "no-op", ceiling: 170,
      of: Side(measuring: "pending no-op", items: 20_000, tally: 0) { count in
        await pendingBytes(count) { NoOperation() }
      }),
    bytes(
      "link", ceiling: 200,
      of: Side(measuring: "pending link of a chain", items: 20_000, tally: 0) { count in
        var last: Procedure?
        return await pendingBytes(count) {
          let next = NoOperation()
          if let last { next.add(dependency: last) }
          last = next
          return next
        }
      }),
    bytes(
      "delay",
      of: Side(measuring: "delay procedure", items: 20_000, tally: 0) { count in
        var queue: ProcedureQueue?
        let bytes = await LiveBytes.each(of: count) { queue = await ProcedureWork.delays(count) }
        if let queue { await ProcedureWork.cancelAll(queue) }
        return bytes
      }),
    bytes(
      "token",
      of: Side(measuring: "token source with a handler", items: 20_000, tally: 0) { count in
        await LiveBytes.each(of: count) {
          (0..<count).map { _ in
            let source = CancellationTokenSource()
            source.token.onCancel { Tally.note() }
            return source
          }
        }
      }),
  ]

  private static func bytes(
    _ name: String, ceiling: Double? = nil, of side: Side
  ) -> Contest {
    Contest(
      name: "live bytes, \(name)", unit: .bytes, ceiling: ceiling, mostRounds: 6,
      ours: side,
      theirs: Side(measuring: "pending block of Dispatch", items: 20_000) { count in
        let queue = DispatchQueue(label: "pending")
        queue.suspend()
        let bytes = await LiveBytes.each(of: count) {
          for _ in 0..<count { queue.async { Tally.note() } }
        }
        queue.resume()
        queue.sync {}
        return bytes
      })
  }

  private static func pendingBytes(_ count: Int, _ make: () -> Procedure) async -> Double {
    var queue: ProcedureQueue?
    let bytes = await LiveBytes.each(of: count) { queue = ProcedureWork.pending(count, make) }
    if let queue { await ProcedureWork.cancelAll(queue) }
    return bytes
  }
}
