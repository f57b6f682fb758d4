#if MODEL
  /// The decisions of one schedule, from which the next one follows.
  final class DecisionPath {
    /// Who goes on at a scheduling point.
    struct Turn {
      /// How many scheduling points came before it.
      let point: Int
      /// How many places the schedule has made before it.
      let places: Int
      /// The thread that has come to it; nil at the first one.
      let thread: Int?
      /// The threads that may go on. The first is `thread` if that could go on.
      let candidates: [Int]
      /// Whether any other choice than the first is a preemption.
      var isPreemption: Bool { thread == candidates[0] }
      /// After the first option: what `thread` accesses until its next point, in all schedules.
      fileprivate(set) var segment = Footprint()
      /// By option: what other threads access until `thread` goes on, in all schedules.
      fileprivate var others: [Footprint]
      fileprivate var foresight = Foresight.none

      init(point: Int, places: Int, thread: Int?, candidates: [Int]) {
        self.point = point
        self.places = places
        self.thread = thread
        self.candidates = candidates
        others = Array(repeating: Footprint(), count: candidates.count)
      }
    }

    /// What other threads access if each is chosen at the next point of the thread, and not here.
    fileprivate enum Foresight {
      case none
      case known([Int: Footprint])
      /// There was no decision at its next point.
      case impossible
    }

    private struct Decision {
      var choice = 0
      let options: Int
      /// Nil if it is which value a load returns.
      var turn: Turn?
    }

    /// Whether choices may be left out.
    let reduces: Bool
    private var decisions: [Decision] = []
    private var step = 0
    /// From now on the schedule takes first options, and none of it is a decision.
    private(set) var isOver = false

    init(reduces: Bool) { self.reduces = reduces }

    /// What was decided here; the first option if no run was here before. Nil if not the same thing
    /// is to be decided.
    func choose(among options: Int) -> Int? { choose(Decision(options: options)) }

    /// The same for a turn.
    func choose(_ turn: Turn) -> Int? {
      choose(Decision(options: turn.candidates.count, turn: turn))
    }

    private func choose(_ new: Decision) -> Int? {
      if isOver { return 0 }
      defer { step += 1 }
      if step == decisions.count { decisions.append(new) }
      let old = decisions[step]
      guard
        old.options == new.options, old.turn?.point == new.turn?.point,
        old.turn?.thread == new.turn?.thread, old.turn?.candidates == new.turn?.candidates
      else { return nil }
      return old.choice
    }

    /// The number of the decision that was made last.
    var last: Int { step - 1 }

    /// How many places there were in the schedule that made it first.
    var placesAtLast: Int { decisions[last].turn?.places ?? 0 }

    func skipRest() { isOver = true }

    /// Goes on to the next schedule. False if there is none.
    func advance() -> Bool {
      step = 0
      isOver = false
      while let last = decisions.indices.last {
        repeat { decisions[last].choice += 1 } while isLeftOut(last)
        if decisions[last].choice < decisions[last].options { return true }
        foretell(decisions.removeLast())
      }
      return false
    }

    // MARK: Independent steps

    func segment(of decision: Int) -> Footprint { decisions[decision].turn?.segment ?? Footprint() }

    func addToSegment(of decision: Int, _ footprint: Footprint) {
      decisions[decision].turn?.segment.formUnion(footprint)
    }

    func addToOthers(of decision: Int, _ footprint: Footprint) {
      let choice = decisions[decision].choice
      decisions[decision].turn?.others[choice].formUnion(footprint)
    }

    /// The thread's next point is no decision.
    func foreseeNothing(at decision: Int) { decisions[decision].turn?.foresight = .impossible }

    /// Whether the choice is the same as to make it at the thread's next point: see `Reduction`.
    private func isLeftOut(_ number: Int) -> Bool {
      let decision = decisions[number]
      guard
        reduces, decision.choice < decision.options, let turn = decision.turn, turn.isPreemption,
        case .known(let foreseen) = turn.foresight,
        let others = foreseen[turn.candidates[decision.choice]],
        !others.conflicts(with: turn.segment)
      else { return false }
      decisions[number].turn?.others[decision.choice] = others
      return true
    }

    /// Tells the decision at the point before of the same thread what followed from each choice
    /// here.
    private func foretell(_ done: Decision) {
      guard
        let turn = done.turn, let index = decisions.lastIndex(where: { $0.turn != nil }),
        let before = decisions[index].turn, before.isPreemption, decisions[index].choice == 0,
        before.point + 1 == turn.point, before.thread == turn.thread
      else { return }
      var others: [Int: Footprint] = [:]
      for (thread, footprint) in zip(turn.candidates, turn.others) where thread != turn.thread {
        others[thread] = footprint
      }
      switch before.foresight {
      case .impossible: break
      case .none: decisions[index].turn?.foresight = .known(others)
      case .known(let known):
        // The segment between has read different values: it is the same only if it is for each.
        decisions[index].turn?.foresight = .known(
          known.reduce(into: [:]) { both, entry in
            guard var union = others[entry.key] else { return }
            union.formUnion(entry.value)
            both[entry.key] = union
          })
      }
    }
  }
#endif
