import Procedures

let outcome = await ProcedureQueue().run(GroupProcedure(DelayProcedure(by: .milliseconds(1))))
print("a group with a delay \(outcome)")
