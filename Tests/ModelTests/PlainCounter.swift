#if MODEL
  /// Counts without a lock: in a model only one thread runs at a time.
  final class PlainCounter: @unchecked Sendable {
    private(set) var highest = 0
    var value = 0 {
      didSet { highest = max(highest, value) }
    }
  }

  /// Notes without a lock.
  final class PlainLog<Event: Sendable>: @unchecked Sendable {
    var events: [Event] = []
  }

  struct Violation: Error, CustomStringConvertible {
    let description: String
  }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw Violation(description: message()) }
  }
#endif
