import Procedures

let queue = ProcedureQueue()
let fetch = BlockProcedure { procedure in
  for page in 1...3 where !procedure.isCancelled { print("page \(page)") }
}
let report = BlockProcedure { print("all pages are here") }
report.add(dependency: fetch)
queue.add(fetch, report)
await queue.waitUntilAllFinished()
