import ProceduresFoundation

let echo = ProcessProcedure("echo", arguments: ["a program has run"])
_ = await ProcedureQueue().run(echo)
print(echo.result?.outputText ?? "no program has run", terminator: "")
