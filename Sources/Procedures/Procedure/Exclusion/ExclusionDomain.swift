/// The part of a program in which categories exclude each other: by default the whole process.
///
/// A domain of its own keeps a library, or a test, from excluding, and being excluded by, procedures
/// that happen to use the same category.
///
/// ```swift
/// let domain = ExclusionDomain(name: "exports")
/// procedure.add(condition: MutuallyExclusive<Database>(in: domain))
/// ```
public final class ExclusionDomain: Sendable, CustomStringConvertible {
  /// Shared by everything in the process that names no other.
  public static let process = ExclusionDomain(name: "process")

  /// The name in logs.
  public let name: String

  /// Makes a domain. Two of the same name are two domains.
  public init(name: String) {
    self.name = name
  }

  /// Its name.
  public var description: String { name }
}
