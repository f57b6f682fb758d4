public import Foundation
public import Procedures
public import ProceduresProcess

extension ProcedureError: LocalizedError {
  /// The sentence that `description` is: for `localizedDescription`, which would name a number otherwise.
  public var errorDescription: String? { description }
}

extension ProcessError: LocalizedError {
  /// The sentence that `description` is: for `localizedDescription`, which would name a number otherwise.
  public var errorDescription: String? { description }
}
