extension Procedure {
  /// The groups around it, innermost first. For `execute()`. Costs the depth.
  package final var enclosingGroups: [GroupProcedure] {
    var groups: [GroupProcedure] = []
    var next = peek { $0.list }?.owner
    while let reference = next {
      if let group = reference.group { groups.append(group) }
      next = reference.parent
    }
    return groups
  }
}
