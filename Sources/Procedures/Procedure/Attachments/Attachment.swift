/// What some procedures have beside what every procedure has: a subclass for each concept. Guarded by the
/// procedure's lock.
@safe class Attachment: @unchecked Sendable {
  /// What becomes of it when the procedure has finished.
  enum Fate: Sendable {
    case leaves
    case stays
    /// It leaves, and that is what is left of it.
    case leavesBehind(Attachment)
  }

  /// Owned by the row that this is in.
  @safe @exclusivity(unchecked) final var next: Unmanaged<Attachment>?

  required init() {}

  var fate: Fate { .leaves }
}
