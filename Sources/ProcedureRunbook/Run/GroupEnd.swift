import Procedures

/// Stands for a group: it comes after all steps of the group, and steps that come after the group
/// come after this.
///
/// So `after` a group of n steps costs one dependency and not n.
final class GroupEnd: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}
