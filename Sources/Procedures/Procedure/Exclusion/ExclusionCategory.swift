internal import ProcedurePrimitives

/// A category of mutual exclusion: a type or a name, in a domain.
///
/// ```swift
/// let disk: ExclusionCategory = "disk"
/// let accounts = ExclusionCategory(Account.self)
/// let host = ExclusionCategory(named: url.host)
/// ```
///
/// Equal categories are the same category, wherever they were made. A type and a name are never
/// equal.
public struct ExclusionCategory: Hashable, Sendable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  private struct TypeIdentity: Hashable, Sendable {
    let type: Any.Type

    static func == (left: Self, right: Self) -> Bool { left.type == right.type }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(type)) }
  }

  private enum Name: Hashable, Sendable {
    case type(TypeIdentity)
    case text(String)
  }

  private let name: Name
  private let domain: ExclusionDomain
  /// Set for the category of a rate: a place is taken for this long, not until the procedure has
  /// finished.
  private(set) var interval: Duration?

  /// The type's name, or the text.
  public var description: String {
    interval.map { "starts of \(text) in \($0.short)" } ?? text
  }

  var text: String {
    switch name {
    case .type(let type): typeName(type.type)
    case .text(let text): text
    }
  }

  /// The category of a type. Types of the same name in different modules are different categories.
  public init(_ type: (some Any).Type, in domain: ExclusionDomain = .process) {
    name = .type(TypeIdentity(type: type))
    self.domain = domain
  }

  /// The category of a name: equal names are the same category.
  public init(named name: String, in domain: ExclusionDomain = .process) {
    self.name = .text(name)
    self.domain = domain
  }

  /// The category of a name, in the process.
  public init(stringLiteral name: String) {
    self.init(named: name)
  }

  /// The category of the starts in each such interval.
  func starts(in interval: Duration) -> Self {
    var category = self
    category.interval = interval
    return category
  }

  /// Compares type or name, and domain.
  public static func == (left: Self, right: Self) -> Bool {
    left.domain === right.domain && left.name == right.name && left.interval == right.interval
  }

  /// Hashes type or name, and domain.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(ObjectIdentifier(domain))
    if let interval { hasher.combine(interval) }
  }
}

/// The part of a program in which categories exclude each other: by default the whole process.
///
/// A domain of its own keeps a library, or a test, from excluding procedures that happen to use the
/// same category, and from being excluded by them.
///
/// ```swift
/// let domain = ExclusionDomain(name: "exports")
/// procedure.add(condition: MutuallyExclusive<Database>(in: domain))
/// ```
public final class ExclusionDomain: Sendable, CustomStringConvertible {
  /// Shared by everything in the process that names no other domain.
  public static let process = ExclusionDomain(name: "process")

  /// The name in logs.
  public let name: String

  /// Makes a domain. Two domains of the same name are different.
  public init(name: String) {
    self.name = name
  }

  /// Its name.
  public var description: String { name }
}
