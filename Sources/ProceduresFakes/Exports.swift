@_exported public import ProceduresNetwork
@_exported public import ProceduresProcess
