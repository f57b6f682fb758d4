public import Foundation
public import Procedures
public import ProceduresProcess

/// Uses the description as `localizedDescription`.
extension ProcedureError: LocalizedError {
  /// The same sentence as `description`, for `localizedDescription`, which would name a number
  /// otherwise.
  public var errorDescription: String? { description }
}

/// Uses the description as `localizedDescription`.
extension ProcessError: LocalizedError {
  /// The same sentence as `description`, for `localizedDescription`, which would name a number
  /// otherwise.
  public var errorDescription: String? { description }
}
