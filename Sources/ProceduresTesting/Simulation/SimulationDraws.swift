/// The decisions of one run: drawn from the seed, or given. They are recorded, so that a run can be
/// repeated.
///
/// A seed also draws its strategy, so that each kind of order has seeds that find it soon:
///
/// - **At random** (a quarter of the seeds): usually the current step goes on; otherwise the others
///   are equally likely. Another step may also run while the current one stays on the stack.
/// - **By priorities** (a quarter): each new step gets a random priority, and the highest is next.
///   At up to three random places the next step becomes the lowest. That is PCT (Burckhardt and
///   others, 2010): an order that depends on d decisions is found with a probability that has a
///   bound.
/// - **By priorities, begun first** (half): likewise, but every job that can begin does so, up to
///   its first event, before any goes on. So jobs that begin in one order go on in any order, all
///   equally likely.
struct SimulationDraws: Sendable {
  private enum Way: Sendable {
    case random
    /// - Parameter changes: the decisions at which the highest becomes the lowest.
    case priorities(beginsFirst: Bool, changes: [Int])
    /// The given decisions; after them always the first candidate.
    case given([Int])
  }

  private var generator: SimulationGenerator
  private let way: Way
  /// The decisions, one for each choice.
  private(set) var made: [Int] = []
  /// The number of candidates of each decision, and whether it could preempt the current step. For
  /// `exploreAll`.
  private(set) var choices: [Choice] = []
  private let notesChoices: Bool
  private var count = 0

  struct Choice: Sendable {
    let count: Int
    let isPause: Bool
  }

  /// The number of candidates that are compared: a scenario of thousands stays linear.
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
        // The length of the run is unknown: guess a power of two, all equally likely.
        let length = UInt64(1) << UInt64(2 + generator.next() % 12)
        let changes = (0..<generator.next() % 4).map { _ in Int(generator.next() % length) }
        way = .priorities(beginsFirst: kind > 1, changes: changes)
      }
    }
    self.generator = generator
  }

  /// The priority of a new step.
  ///
  /// - Parameter begins: whether a worker or a task begins with it.
  mutating func priority(begins: Bool) -> UInt64 {
    guard case .priorities(let beginsFirst, let changes) = way else { return 0 }
    if begins, beginsFirst { return .max }
    return generator.next() / 2 + UInt64(changes.count) + 1
  }

  /// The place of the next candidate, when no step is under way.
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

  /// The decision at an event of the current step: 0 if it goes on. Numbers up to the count of
  /// candidates put it aside for that candidate; higher ones run a candidate while it stays on the
  /// stack.
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
        // It began before everything else. From now on it gets a random priority like the others.
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

  /// A priority lower than all drawn ones. Which change gives the lowest does not depend on their
  /// order in time.
  private var lowest: UInt64 {
    guard case .priorities(_, let changes) = way else { return 0 }
    return UInt64((changes.firstIndex(of: count) ?? 0) + 1)
  }

  /// The first of the highest candidates. Where the priorities change, that one becomes the lowest.
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
