public import Foundation
public import Procedures
public import ProceduresProcess

/// Its description is its `localizedDescription`.
extension ProcedureError: LocalizedError {
  /// The sentence that `description` is: for `localizedDescription`, which would name a number otherwise.
  public var errorDescription: String? { description }
}

/// Its description is its `localizedDescription`.
extension ProcessError: LocalizedError {
  /// The sentence that `description` is: for `localizedDescription`, which would name a number otherwise.
  public var errorDescription: String? { description }
}
