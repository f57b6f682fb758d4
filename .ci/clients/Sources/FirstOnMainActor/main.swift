import Procedures

let window = CancellationTokenSource()
let fetch = BlockProcedure(name: "fetch") { fetch in
  for page in 1...1_000 where !fetch.isCancelled {
    print("page \(page)")
    if page == 2 { window.cancel() }  // stands for a user who closes the window now
  }
}
let report = BlockProcedure(name: "report") { print("all pages are here") }
report.add(dependency: fetch, requiring: .success)

let queue = ProcedureQueue()
queue.add(fetch, cancelledBy: window.token)
queue.add(report)
await queue.waitUntilAllFinished()
print(fetch)
print(report)
