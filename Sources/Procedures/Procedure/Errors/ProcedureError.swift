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
/// `description` is a sentence that names the procedure and says what to do. Two errors are equal
/// if their codes and names are equal, as a test or a handler needs it. It is a struct with a code,
/// so that a new kind of error does not break an exhaustive `switch` of yours.
///
/// Your own errors are best types of your own: they reach the waiter unchanged. To report something
/// in the framework's terms, for example from a condition, make one:
///
/// ```swift
/// return .failed(
///   ProcedureError(.conditionFailed, procedure: procedure.name, message: "The battery is low."))
/// ```
public struct ProcedureError: Error {
  /// The kind of error.
  public let code: Code

  /// The name of the procedure that `code` is about; nil if there is none, or it is unknown.
  ///
  /// Codes such as `.child`, `.dependencyFailed` and `.siblingFailed` name the other procedure: the
  /// child, the dependency, the sibling.
  public let procedure: String?

  /// The errors behind this one, if any: of the dependency, the child or the group, for example.
  public let underlyingErrors: [any Error]

  let details: Details

  /// The group of the dependency, when it ended: a group that contains both reports only the
  /// dependency.
  let origin: GroupReference?

  /// The path down to the child, if it leads through groups.
  private var childPath: ChildPath?

  /// Details besides the name.
  enum Details: Sendable {
    case none
    case message(String)
    case duration(Duration)
    case condition(String)
    case cycle(Cycle)
    case end(End)
  }

  /// The end of the procedure that the code is about, if the code does not say it.
  enum End: Sendable {
    /// A condition of that name was ignored; nil if it is the procedure's own.
    case ignored(String, of: String?)
    case errorAsOutput
    case noOutput
    case noOutputOfPart(String, OfPart)

    /// The end of a part, as the predicate of a sentence.
    enum OfPart: String, Sendable {
      case failed
      case cancelled = "was cancelled"
      case noOutput = "has none"
    }
  }

  /// Procedures that wait for each other.
  struct Cycle: Sendable {
    let names: [String]
    /// One sentence for each wait: who waits for whom, and how.
    let sentences: [String]
    /// Whether the only one waits for some of several, of which it is one.
    let isAmongOthers: Bool
  }

  /// Makes an error, to report something in the framework's terms.
  ///
  /// - Parameters:
  ///   - code: its kind; `Code(rawValue:)` for one of your own.
  ///   - procedure: the name of the procedure that it is about.
  ///   - underlyingErrors: the errors behind it.
  ///   - message: the text of `description`, instead of the sentence for the code.
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

  /// The names on the path from the group that reports this error to the child where it began, if
  /// the code is `.child`.
  ///
  /// The last name is `procedure`; the others are the groups around it. For a group of files, each
  /// a group of steps:
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

  /// This error of a child of `group`, as the group around `group` reports it.
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

/// The names from a group down to a child, the outermost first. Each group prepends its own, in
/// O(1).
private final class ChildPath: @unchecked Sendable {
  private let name: String
  /// Changes in the `deinit` only.
  private var rest: ChildPath?

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
