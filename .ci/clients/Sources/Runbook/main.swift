import Benchmarks
import Primitives
import Procedures
import TestSupport

let outcome = await ProcedureQueue().run(Primitives.Repeat().make())
print("\(outcome), \(isCancelled), \(hasDigits("a1")), \(makeClock().pendingCount)")
