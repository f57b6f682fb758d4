extension MainActor {
  /// Whether a closure with this isolation runs on the main actor.
  package static func isIsolation(_ isolation: (any Actor)?) -> Bool {
    if let isolation { isolation === shared } else { false }
  }
}
