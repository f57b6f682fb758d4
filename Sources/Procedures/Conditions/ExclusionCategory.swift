internal import ProcedureExclusion

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
  let id: CategoryID

  /// The type's name, or the text.
  public var description: String { id.description }

  /// The category of a type. Types of the same name in different modules are different categories.
  public init(_ type: (some Any).Type, in domain: ExclusionDomain = .process) {
    id = CategoryID(type, in: domain.identity)
  }

  /// The category of a name: equal names are the same category.
  public init(named name: String, in domain: ExclusionDomain = .process) {
    id = CategoryID(named: name, in: domain.identity)
  }

  /// The category of a name, in the process.
  public init(stringLiteral name: String) {
    self.init(named: name)
  }

  init(id: CategoryID) { self.id = id }

  /// Compares type or name, and domain.
  public static func == (left: Self, right: Self) -> Bool { left.id == right.id }

  /// Hashes type or name, and domain.
  public func hash(into hasher: inout Hasher) { id.hash(into: &hasher) }
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

  /// What tells its categories from those of the same name elsewhere; nil for the process.
  fileprivate var identity: ExclusionDomain? { self === Self.process ? nil : self }
}
