@_exported public import Procedures
