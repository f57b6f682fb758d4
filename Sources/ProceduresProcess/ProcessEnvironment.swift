/// The environment of a program: inherited from this process with changes, or its own.
///
/// ```swift
/// configuration.environment["LANG"] = "C"     // the environment of this process, with one change
/// configuration.environment["DEBUG"] = nil    // removes it
/// configuration.environment = ["PATH": "/usr/bin:/bin"]   // this, and nothing else
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
  /// Setting it to nil removes an inherited variable.
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

  /// Sets variables, which replace existing ones of the same name.
  public mutating func set(_ variables: [String: String]) {
    for (name, value) in variables { changes.updateValue(value, forKey: name) }
  }
}

extension ProcessEnvironment: ExpressibleByDictionaryLiteral {
  /// These variables, and no others. If a name occurs twice, the last value counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}
