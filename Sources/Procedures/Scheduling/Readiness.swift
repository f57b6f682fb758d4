/// What a member of a list that has not started has come to.
enum Readiness: Sendable, Equatable {
  /// It still waits, or nothing has changed.
  case waiting
  /// Its conditions can be evaluated, once a worker has time.
  case evaluate
  /// Nothing but a slot, and what it excludes others from, is missing.
  case start
}
