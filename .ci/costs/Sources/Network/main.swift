import ProceduresNetwork

let fetch = NetworkDataProcedure()
print(await ProcedureQueue().run(fetch))
