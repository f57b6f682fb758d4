internal import Dispatch
internal import Foundation
internal import Procedures

final class Empty: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}
let n = 100_000
func time(_ name: String, _ n: Int, _ body: () -> Void) {
  var best = Double.infinity
  for _ in 0..<7 {
    let d = ContinuousClock().measure(body)
    best = min(best, Double(d.components.attoseconds) / 1e9 + Double(d.components.seconds) * 1e9)
  }
  print(name, Int(best / Double(n)), "ns")
}
for _ in 0..<2 {
  time("noop", n) {
    let queue = ProcedureQueue()
    for _ in 0..<n { queue.add(Empty()) }
    queue.waitUntilAllFinished()
  }
  time("chain", n) {
    let queue = ProcedureQueue()
    var previous: Empty?
    for _ in 0..<n {
      let next = Empty(); if let previous { next.add(dependency: previous) }; queue.add(next);
      previous = next
    }
    queue.waitUntilAllFinished()
  }
  time("observer", n) {
    let queue = ProcedureQueue()
    for _ in 0..<n { let p = Empty(); p.addDidFinishBlockObserver { _, _ in }; queue.add(p) }
    queue.waitUntilAllFinished()
  }
  time("group", n) {
    let queue = ProcedureQueue()
    let group = GroupProcedure(children: (0..<n).map { _ in Empty() })
    queue.add(group)
    queue.waitUntilAllFinished()
  }
  time("dispatch", n) {
    let group = DispatchGroup()
    let queue = DispatchQueue.global()
    for _ in 0..<n { group.enter(); queue.async { group.leave() } }
    group.wait()
  }
}
time("operation", 10_000) {
  let queue = OperationQueue()
  for _ in 0..<10_000 { queue.addOperation(BlockOperation {}) }
  queue.waitUntilAllOperationsAreFinished()
}
