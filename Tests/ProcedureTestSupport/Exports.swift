@_exported public import ProceduresTesting
