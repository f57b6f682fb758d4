extension Procedure {
  /// The groups around it, innermost first. A step to the next group costs a lock.
  package final var enclosingGroups: some Sequence<GroupProcedure> {
    sequence(state: peek { $0.groupReference }) { next in
      while let reference = next {
        next = reference.parent
        if let group = reference.group { return group }
      }
      return nil
    }
  }
}
