@_exported public import Procedures
@_exported public import ProceduresProcess
