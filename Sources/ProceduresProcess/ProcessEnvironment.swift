/// The environment of a program: inherited from this process with changes, or its own.
///
/// ```swift
/// configuration.environment["LANG"] = "C"     // as this process has it, but for that
/// configuration.environment["DEBUG"] = nil    // without it
/// configuration.environment = ["PATH": "/usr/bin:/bin"]   // that, and nothing else
/// ```
///
/// The inherited environment is neither copied nor read before the program starts, so a value costs
/// the changes in it.
public struct ProcessEnvironment: Sendable, Equatable {
  let inherits: Bool
  /// nil: removed from the inherited environment.
  private(set) var changes: [String: String?]

  /// The environment of this process, as it is when the program starts.
  public static let inherited = ProcessEnvironment(inherits: true, changes: [:])

  /// These variables, and no others.
  public init(_ variables: [String: String]) {
    self.init(inherits: false, changes: variables)
  }

  private init(inherits: Bool, changes: [String: String?]) {
    self.inherits = inherits
    self.changes = changes
  }

  /// The value of a variable; nil if the program does not get it.
  ///
  /// Setting it to nil takes an inherited one away.
  public subscript(name: String) -> String? {
    get {
      if let change = changes[name] { return change }
      return inherits ? EnvironmentOfThisProcess.value(of: name) : nil
    }
    set {
      if newValue == nil, !inherits {
        changes.removeValue(forKey: name)
      } else {
        changes.updateValue(newValue, forKey: name)
      }
    }
  }

  /// Sets variables besides the present ones; these win.
  public mutating func set(_ variables: [String: String]) {
    for (name, value) in variables { changes.updateValue(value, forKey: name) }
  }
}

extension ProcessEnvironment: ExpressibleByDictionaryLiteral {
  /// These variables, and no others. If a name is there twice, its last value has effect.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
