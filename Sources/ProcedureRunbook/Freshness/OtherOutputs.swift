internal import ProcedurePrimitives

/// The outputs of other steps, which do not count in a folder that a step makes.
///
/// ```
/// {"name": "folder", "outputs": "build", "run": "mkdir -p build"},
/// {"name": "compile", "outputs": "build/main.o", …}
/// ```
final class OtherOutputs: Sendable {
  private enum Maker: Hashable {
    case step(Name)
    case otherPlan
  }

  private struct Makers {
    var byPath: [FilePath: Set<Maker>] = [:]
    /// The makers of anything below a folder.
    var byFolder: [FilePath: Set<Maker>] = [:]

    mutating func add(_ maker: Maker, of path: FilePath) {
      byPath[path, default: []].insert(maker)
      var folder = path.folder
      while let above = folder, byFolder[above, default: []].insert(maker).inserted {
        folder = above.folder
      }
    }
  }

  private let plan: Plan
  private let journals: RunJournals
  /// nil until it is needed: few plans have such a folder.
  private let known = Locked<Makers?>(nil)

  init(_ plan: Plan, _ journals: RunJournals) { (self.plan, self.journals) = (plan, journals) }

  func contain(_ path: FilePath, notOf step: Name) -> Bool {
    areOthers(than: step) { $0.byPath[path.shortest] }
  }

  func areBelow(_ folder: FilePath, notOf step: Name) -> Bool {
    areOthers(than: step) { $0.byFolder[folder.shortest] }
  }

  private func areOthers(than step: Name, _ makers: (Makers) -> Set<Maker>?) -> Bool {
    let makers = known.withLock { known in
      let all = known ?? all
      known = all
      return makers(all)
    }
    return !(makers ?? []).isSubset(of: [.step(step)])
  }

  private var all: Makers {
    var all = Makers()
    for step in plan.steps {
      for path in step.madePaths { all.add(.step(step.name), of: path.shortest) }
    }
    // Another plan may make files in the same folders.
    for journal in journals.all(of: plan.steps) {
      for made in journal.made(notIn: [])
      where !journals.isOfThisPlan(made, orShared: journal) {
        for path in made.outputs { all.add(.otherPlan, of: path) }
      }
    }
    return all
  }
}
