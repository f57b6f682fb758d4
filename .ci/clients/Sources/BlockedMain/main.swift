import Procedures

// What a newcomer from `OperationQueue` writes: the closure is on the main actor, whose thread waits for it.
let queue = ProcedureQueue()
let upload = AsyncProcedure(name: "upload") { print("uploaded") }
queue.add(upload)
queue.blockUntilAllFinished()
