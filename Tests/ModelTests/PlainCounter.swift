#if MODEL
  import ProcedurePrimitives

  /// State of a test that threads share without a lock: in a model only one thread runs at a time.
  ///
  /// The explorer knows of each access, so that it keeps the orders that a test can see. It is no
  /// data race.
  ///
  /// Unchecked because one thread runs at a time.
  final class Plain<Value>: @unchecked Sendable {
    private let place = ModelPlace()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
      get {
        (ModelSchedule.thread as? Fiber)?.read(place)
        return stored
      }
      set {
        ModelSchedule.thread?.touch(place)
        stored = newValue
      }
    }
  }

  /// Counts without a lock.
  final class PlainCounter: Sendable {
    private let counts = Plain((value: 0, highest: 0))

    var highest: Int { counts.value.highest }

    var value: Int {
      get { counts.value.value }
      set { counts.value = (newValue, max(highest, newValue)) }
    }
  }

  /// Notes without a lock.
  final class PlainLog<Event: Sendable>: Sendable {
    private let noted = Plain<[Event]>([])

    var events: [Event] {
      get { noted.value }
      set { noted.value = newValue }
    }
  }

  struct Violation: Error, CustomStringConvertible {
    let description: String
  }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw Violation(description: message()) }
  }
#endif
