/// A part of a procedure that only some procedures have: one subclass for each feature, at most one object of each
/// in a procedure. Guarded by the procedure's lock.
///
/// A procedure that has none pays one word. A feature hangs on the procedure by its attachment, and overrides what it
/// wants to be called for; the core need not know the feature.
class Attachment: @unchecked Sendable {
  /// The next one of the same procedure.
  @safe @exclusivity(unchecked) final var next: Attachment?

  required init() {}

  /// Its replacement once the procedure has finished: itself, less, or nothing. Called under the lock.
  var remainder: Attachment? { nil }

  /// Whether it shows that the work of the procedure goes on, although `execute()` has returned. Called under the lock.
  var showsWork: Bool { false }

  /// The life of the procedure has changed. Called under the lock of the procedure, if the core says that it is
  /// watched; if the procedure was ready, or is now, under that of its list, too.
  ///
  /// - Parameter missesDependency: whether it waited for dependencies, and goes on without one of them.
  func lifeDidChange(to life: RecordedLife, missesDependency: Bool) {}

  /// The procedure has finished, and does not have this any more. Called on its worker, before dependents are
  /// notified; no lock is held.
  func procedureDidLeave() {}
}
