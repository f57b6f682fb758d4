/// That one procedure waits for another, as either of the two has it. Guarded by the lock of the one that
/// has it.
struct Edge: Sendable {
  /// The procedure at the other end.
  let other: Procedure
  let rule: EdgeRule
  /// In the one that waits: where it is among the dependents of the other, once it is known there.
  var key: DependentList.Key?

  /// Whether it is that dependency, which has not been noted there. By its rule too: it may have been taken back,
  /// and added again by another one.
  func isUnnoted(to other: Procedure, by rule: EdgeRule) -> Bool {
    key == nil && self.other === other && self.rule == rule
  }

  /// The one that waits needs the other no more.
  func leave() {
    guard !other.isFinished, let key else { return }
    _ = other.removeDependent(key)
  }
}

/// What stands between a dependency that has finished and the procedure that waits for it.
enum EdgeRule: Sendable, Equatable {
  case requirement(DependencyRequirement)
  /// The output, as it is stored, becomes the input: of two whose types agree, and that both keep them behind
  /// their locks.
  case output
  case handOver(HandOver)

  /// Whether it asks for the same, so that one stands for the other.
  static func == (left: EdgeRule, right: EdgeRule) -> Bool {
    switch (left, right) {
    case (.requirement(let left), .requirement(let right)): left == right
    case (.output, .output): true
    case (.handOver(let left), .handOver(let right)): left === right
    case (.requirement, _), (.output, _), (.handOver, _): false
    }
  }
}
