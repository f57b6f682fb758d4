/// An error of the framework: a code, the name of a procedure, and the errors behind it.
///
/// ```swift
/// do {
///   page = try await fetch.value
/// } catch let error as ProcedureError where error.code == .timedOut {
///   show("The server took longer than \(error.duration!).")
/// }
/// ```
///
/// `description` is a sentence that names the procedure and says what to do. Two errors are equal if
/// their codes and the names are: that is what a test, or a handler, asks for. A struct with a code, so
/// that a new kind of error does not break an exhaustive `switch` of yours.
///
/// Errors of your own are best types of your own: they reach the waiter as they are. To report
/// something in the framework's terms, for example from a condition, make one:
///
/// ```swift
/// return .failed(
///   ProcedureError(.conditionFailed, procedure: procedure.name, message: "The battery is low."))
/// ```
public struct ProcedureError: Error {
  /// The kind of error.
  public let code: Code

  /// The name of the procedure that `code` is about; nil if it is about none, or that is not known.
  ///
  /// For `.child`, `.dependencyFailed`, `.siblingFailed` and the like, that is the other one: the child,
  /// the dependency, the sibling.
  public let procedure: String?

  /// The errors behind this one, if any: of the dependency, the child or the group, for example.
  public let underlyingErrors: [any Error]

  let details: Details

  /// The group of the dependency, when it ended: a group that has both reports the dependency only.
  let origin: GroupReference?

  /// The way down to the child, if groups are on it.
  private var childPath: ChildPath?

  /// Details besides the name.
  enum Details: Sendable {
    case none
    case message(String)
    case duration(Duration)
    case condition(String)
    case cycle(Cycle)
  }

  /// Procedures that wait for each other.
  struct Cycle: Sendable {
    let names: [String]
    /// Who waits how for whom, one sentence for each.
    let sentences: [String]
  }

  /// Makes an error, if you report something in the framework's place.
  ///
  /// - Parameters:
  ///   - code: its kind; `Code(rawValue:)` for one of your own.
  ///   - procedure: the name of the procedure that it is about.
  ///   - underlyingErrors: the errors behind it.
  ///   - message: what `description` says, instead of the sentence for the code.
  public init(
    _ code: Code, procedure: String? = nil, underlyingErrors: [any Error] = [],
    message: String? = nil
  ) {
    self.init(
      code, of: procedure, because: underlyingErrors, message.map(Details.message) ?? .none)
  }

  init(
    _ code: Code, of procedure: String?, because errors: [any Error] = [],
    _ details: Details = .none, from origin: GroupReference? = nil
  ) {
    self.code = code
    self.procedure = procedure
    self.underlyingErrors = errors
    self.details = details
    self.origin = origin
  }

  /// The names from the group that reports this error down to the child that it began with, if the code is `.child`.
  ///
  /// The last one is `procedure`, the others are those of the groups around it. In a group of files, each a group of steps:
  ///
  /// ```swift
  /// for case let error as ProcedureError in files.errors where error.code == .child {
  ///   print(error.path)   // ["00013.ppm", "decode"]
  /// }
  /// ```
  ///
  /// Made when you read it, in O(depth).
  public var path: [String] {
    guard code == .child else { return [] }
    return childPath?.names ?? procedure.map { [$0] } ?? []
  }

  /// As the group around `group` reports the error of a child that `group` has.
  func below(_ group: String) -> Self {
    var error = self
    error.childPath = ChildPath(group, childPath ?? procedure.map { ChildPath($0, nil) })
    return error
  }

  /// How long it was given, if the code is `.timedOut`.
  public var duration: Duration? {
    if case .duration(let duration) = details { duration } else { nil }
  }

  /// The names of the procedures that wait for each other, if the code is `.dependencyCycle`.
  ///
  /// Each waits for the next, and the last for the first.
  public var cycle: [String] {
    if case .cycle(let cycle) = details { cycle.names } else { [] }
  }
}

extension ProcedureError: Hashable {
  /// Whether the codes and the names are equal. The errors behind them are not compared.
  public static func == (left: Self, right: Self) -> Bool {
    left.code == right.code && left.procedure == right.procedure
  }

  /// Hashes the code and the name.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(procedure)
  }
}

/// The names from a group down to a child, the outermost first. Each group puts its own in front, in O(1).
private final class ChildPath: @unchecked Sendable {
  private let name: String
  /// Changes in the `deinit` only.
  @safe @exclusivity(unchecked) private var rest: ChildPath?

  init(_ name: String, _ rest: ChildPath?) {
    self.name = name
    self.rest = rest
  }

  /// Iterative: groups may be nested thousands deep.
  deinit {
    var next = rest.take()
    while var path = next.take(), isKnownUniquelyReferenced(&path) { next = path.rest.take() }
  }

  var names: [String] {
    var names: [String] = []
    var next: ChildPath? = self
    while let path = next {
      names.append(path.name)
      next = path.rest
    }
    return names
  }
}
