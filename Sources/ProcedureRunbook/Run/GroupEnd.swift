import Procedures

/// The end of a group: it depends on all steps of the group, and steps after the group depend on
/// it.
///
/// So `after` a group of n steps costs one dependency instead of n.
final class GroupEnd: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}
