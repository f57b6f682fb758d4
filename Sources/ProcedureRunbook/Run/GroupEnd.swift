import Procedures

/// Stands for a group: it is after all its steps, and what is after the group is after this.
///
/// So `after` a group of n steps costs one dependency and not n.
final class GroupEnd: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}
