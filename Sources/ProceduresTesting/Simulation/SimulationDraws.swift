/// The decisions of one run: drawn from the seed, or given, and noted so that they can be given again.
///
/// A seed also draws how it decides, so that each kind of order has seeds that find it soon:
///
/// - **At random** (a quarter of the seeds): mostly the present step goes on; otherwise each of the others is as
///   likely. Something may also happen while the present step stays on the stack.
/// - **By priorities** (a quarter): each that comes up has a random priority, and the highest is next. At up to three
///   random places the next one becomes the lowest. That is PCT (Burckhardt and others, 2010): an order that
///   depends on d decisions is found with a probability that has a bound.
/// - **By priorities, begun first** (half): likewise, but all that can begin does, up to its first event, before anything
///   goes on. So what begins in one order goes on in each other, each of them as likely.
struct SimulationDraws: Sendable {
  private enum Way: Sendable {
    case random
    /// - Parameter changes: at which decisions the highest becomes the lowest.
    case priorities(beginsFirst: Bool, changes: [Int])
    /// Decides as before; after that always the first.
    case given([Int])
  }

  private var generator: SimulationGenerator
  private let way: Way
  /// The decisions, one for each choice.
  private(set) var made: [Int] = []
  /// Of each, the number of candidates, and whether it preempted the present step. For `exploreAll`.
  private(set) var choices: [Choice] = []
  private let notesChoices: Bool
  private var count = 0

  struct Choice: Sendable {
    let count: Int
    let isPause: Bool
  }

  /// The highest among at most so many is taken: a scenario of thousands stays linear.
  static let mostCompared = 256

  init(seed: UInt64, script: [Int]?, notesChoices: Bool = false) {
    var generator = SimulationGenerator(seed: seed)
    self.notesChoices = notesChoices
    if let script {
      way = .given(script)
    } else {
      let kind = generator.next() % 4
      if kind == 0 {
        way = .random
      } else {
        // How long the run will be is not known: a power of two, each as likely.
        let length = UInt64(1) << UInt64(2 + generator.next() % 12)
        let changes = (0..<generator.next() % 4).map { _ in Int(generator.next() % length) }
        way = .priorities(beginsFirst: kind > 1, changes: changes)
      }
    }
    self.generator = generator
  }

  /// The priority of something that comes up.
  ///
  /// - Parameter begins: whether a worker, or a task, is about to begin with it.
  mutating func priority(begins: Bool) -> UInt64 {
    guard case .priorities(let beginsFirst, let changes) = way else { return 0 }
    if begins, beginsFirst { return .max }
    return generator.next() / 2 + UInt64(changes.count) + 1
  }

  /// Which of the candidates is next. None is under way.
  mutating func next(among candidates: inout [SimulatedWorld.Event]) -> Int {
    guard candidates.count > 1 else { return 0 }
    return decide(among: candidates.count) { draws in
      switch draws.way {
      case .random: Int(truncatingIfNeeded: draws.generator.next() % UInt64(candidates.count))
      case .priorities: draws.highest(of: &candidates) ?? 0
      case .given(let script): draws.given(script)
      }
    }
  }

  /// The choice at an event of the present step: 0 if that goes on. Up to the count of candidates, the candidate
  /// that is next while it is put aside; above that, the candidate that runs while it stays on the stack.
  mutating func pause(
    _ current: inout UInt64, among candidates: inout [SimulatedWorld.Event], mayPutAside: Bool,
    mayInterrupt: Bool
  ) -> Int {
    let others = candidates.count
    guard others > 0, mayPutAside || mayInterrupt else { return 0 }
    let decision = decide(among: mayPutAside ? others + 1 : 1, isPause: true) { draws in
      switch draws.way {
      case .random:
        guard draws.generator.next() % 4 == 0 else { return 0 }
        let staysOnStack = mayInterrupt && (!mayPutAside || draws.generator.next() % 2 == 0)
        let other = Int(truncatingIfNeeded: draws.generator.next() % UInt64(others))
        return staysOnStack ? others + 1 + other : 1 + other
      case .priorities:
        guard mayPutAside else { return 0 }
        // It began before everything else. How it goes on is as open as for the others.
        if current == .max { current = draws.priority(begins: false) }
        if draws.isChange { current = draws.lowest }
        guard let highest = draws.highest(of: &candidates, isChange: false),
          candidates[highest].priority > current
        else { return 0 }
        return 1 + highest
      case .given(let script): return draws.given(script)
      }
    }
    // A decision of another scenario, or of another version of it, may mean nothing here.
    if decision <= others { return mayPutAside ? decision : 0 }
    return mayInterrupt && decision <= 2 * others ? decision : 0
  }

  private mutating func decide(
    among count: Int, isPause: Bool = false, _ choose: (inout Self) -> Int
  ) -> Int {
    let decision = max(choose(&self), 0)
    self.count += 1
    made.append(decision)
    if notesChoices { choices.append(Choice(count: count, isPause: isPause)) }
    return isPause ? decision : min(decision, count - 1)
  }

  private func given(_ script: [Int]) -> Int { made.count < script.count ? script[made.count] : 0 }

  // MARK: By priorities

  private var isChange: Bool {
    guard case .priorities(_, let changes) = way else { return false }
    return changes.contains(count)
  }

  /// Lower than all that were drawn. Which of the changes is lowest does not depend on which is first.
  private var lowest: UInt64 {
    guard case .priorities(_, let changes) = way else { return 0 }
    return UInt64((changes.firstIndex(of: count) ?? 0) + 1)
  }

  /// The first of the highest. Where the priorities change, it is the lowest from here on.
  private func highest(
    of candidates: inout [SimulatedWorld.Event], isChange: Bool? = nil
  ) -> Int? {
    var place = highest(of: candidates)
    if isChange ?? self.isChange, let changed = place {
      candidates[changed].priority = lowest
      place = highest(of: candidates)
    }
    return place
  }

  private func highest(of candidates: [SimulatedWorld.Event]) -> Int? {
    guard var highest = candidates.indices.first else { return nil }
    for place in candidates.indices.prefix(Self.mostCompared)
    where candidates[place].priority > candidates[highest].priority {
      highest = place
    }
    return highest
  }
}
