import Benchmarks
import Primitives
import Procedures
import TestSupport

let outcome = await ProcedureQueue().run(Repeat().make())
print("\(outcome), \(isCancelled), \(makeClock().pendingCount)")
