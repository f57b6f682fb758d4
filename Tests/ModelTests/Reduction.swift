#if MODEL
  import ProcedurePrimitives

  /// Leaves out schedules that differ from another one only in the order of independent steps.
  ///
  /// A segment is what a thread does from one scheduling point to its next one. Two segments are
  /// independent if neither writes a place that the other accesses. Places are atomics, locks,
  /// data, schedulers and the plain state of tests. A segment after which its thread has to wait
  /// reads the place that it waits for.
  ///
  /// Let a thread `t` be preempted, with the segment `S` before it.
  ///
  /// 1. *Sleep.* As long as the others' segments are independent of `S`, `t` does not go on: the
  ///    schedule in which it does is the one in which `S` comes first, and `t` is preempted after
  ///    that.
  /// 2. *Foresight.* Let `v` be chosen at the point after `S` instead, and let all that others do
  ///    then, until `t` goes on, be independent of `S`, and let none of them wait for a place that
  ///    `S` writes. They do the same before `S`, so to choose `v` there is left out.
  ///
  /// The schedule that stands for the other one has at most as many preemptions: `S` changes
  /// neither whether a thread must wait, for that would be a conflict, nor what a load may return.
  /// At the decision it takes the first option, where the other takes a later one. So of all
  /// schedules that differ in the order of independent segments only, the first in the order of
  /// exploration is never left out.
  ///
  /// Reference counts are no places: which of two threads releases an object last may be left out,
  /// and so may a weak reference that is read before the release and not after it. A scenario about
  /// that is explored in full.
  ///
  /// Unchecked because one thread runs at a time.
  final class Reduction: @unchecked Sendable {
    private let path: DecisionPath
    private let numbers: ModelPlaceNumbers
    /// Schedules before it are none of this exploration.
    private let firstSchedule: Int
    private let isOn: Bool

    /// What the thread that runs has accessed since its last point.
    private var footprint = Footprint()
    /// What threads have to wait for now.
    private var waiting = Footprint()
    /// Places with a larger number are made in this segment: no other thread knows them.
    private var oldestNumber = 0
    /// It began with a bare step. If it tells nothing, anything may have been done.
    private var isBare = false
    /// The decision whose first option began this segment.
    private var recorded: Int?
    private var sleeping: [(thread: Int, segment: Footprint)] = []
    /// Decisions whose thread has not gone on since.
    private var awaited: [(decision: Int, thread: Int)] = []
    /// Whether a preempted thread's segment depends on what others did meanwhile.
    private(set) var hasMet = false
    /// All threads that can go on sleep: what follows is part of another schedule.
    private(set) var isRedundant = false
    /// A place has another number than in an earlier schedule, which made something for the
    /// process. The exploration has to begin anew.
    private(set) var hasOtherNumbers = false

    init(_ path: DecisionPath, _ numbers: ModelPlaceNumbers, since firstSchedule: Int) {
      self.path = path
      isOn = path.reduces
      self.numbers = numbers
      self.firstSchedule = firstSchedule
    }

    // MARK: What a segment accesses

    func access(_ place: ModelPlace, isWrite: Bool) {
      guard isOn, !isRedundant else { return }
      isBare = false
      let number = number(of: place)
      if number <= oldestNumber { footprint.insert(number, isWrite: isWrite) }
    }

    /// All of the process's places are one: 0.
    private func number(of place: ModelPlace) -> Int {
      let (schedule, number) = place.origin
      if schedule == numbers.schedule { return number }
      if schedule >= firstSchedule { hasOtherNumbers = true }
      return 0
    }

    /// The segment begins with a step that accesses nothing.
    func beginBare() { isBare = true }

    // MARK: Between segments

    /// - Parameter obstacle: what the thread has to wait for.
    func endSegment(of thread: Int, waitingFor obstacle: ModelPlace?) {
      guard isOn, !isRedundant else { return }
      if isBare { footprint.insertAll() }
      if let obstacle { access(obstacle, isWrite: false) }
      isBare = false
      if footprint.isEmpty { return }
      let asleep = sleeping.count
      sleeping.removeAll { $0.segment.conflicts(with: footprint) }
      if sleeping.count < asleep { hasMet = true }
      for (decision, awaited) in awaited where awaited != thread {
        path.addToOthers(of: decision, footprint)
      }
      if let recorded { path.addToSegment(of: recorded, footprint) }
      footprint.removeAll()
    }

    /// Called at each point, with what threads have to wait for.
    ///
    /// One that waits might go on if the awaited thread had not come so far: to acquire a lock that
    /// this holds now.
    func note(waitingFor obstacles: some Sequence<ModelPlace>) {
      guard !awaited.isEmpty, !isRedundant else { return }
      for obstacle in obstacles { waiting.insert(number(of: obstacle), isWrite: false) }
      if waiting.isEmpty { return }
      for (decision, _) in awaited { path.addToOthers(of: decision, waiting) }
      waiting.removeAll()
    }

    func isAsleep(_ thread: Int) -> Bool { sleeping.contains { $0.thread == thread } }

    /// How many places the schedule has made.
    var placeCount: Int { numbers.count }

    /// Whether a point with one option is a decision: the one before it may be the same.
    var followsRecorded: Bool { recorded != nil }

    func skipRest() {
      isRedundant = true
      path.skipRest()
    }

    /// `next` goes on, and there was nothing to decide.
    func goOn(with next: Int) {
      guard isOn, !isRedundant else { return }
      if let recorded { path.foreseeNothing(at: recorded) }
      recorded = nil
      begin(next)
    }

    /// `next` goes on by the last decision.
    func goOn(with next: Int, after turn: DecisionPath.Turn) {
      guard isOn, !isRedundant else { return }
      if path.placesAtLast != turn.places { hasOtherNumbers = true }
      recorded = nil
      if turn.isPreemption, next == turn.thread {
        recorded = path.last
      } else if let thread = turn.thread {
        if turn.isPreemption { sleeping.append((thread, path.segment(of: path.last))) }
        awaited.append((path.last, thread))
      }
      begin(next)
    }

    private func begin(_ next: Int) {
      awaited.removeAll { $0.thread == next }
      oldestNumber = numbers.count
    }
  }
#endif
