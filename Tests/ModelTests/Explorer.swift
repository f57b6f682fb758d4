#if MODEL
  import Dispatch
  import ProcedurePrimitives
  import ProcedureTestSupport

  /// Runs a scenario under every schedule of its threads, up to a number of preemptions.
  ///
  /// The library is built with `-DMODEL`, so that each lock and each atomic access is a scheduling
  /// point. One thread runs at a time, and at each point the explorer decides which goes on: depth
  /// first over all decisions. A decision to take the processor from a thread that could go on is a
  /// preemption; two of them find nearly all races that there are. A load may return an old value
  /// where a processor, or the compiler, may have it do so: see `WeakMemory`.
  struct Explorer {
    /// What one run of a scenario consists of: made anew for each schedule.
    struct Scenario {
      var threads: [@Sendable () -> Void]
      /// More threads, one for each time that a scheduler is named: they run its workers, and wait
      /// when there are none. The run ends when all of them wait.
      var workers: [ModelScheduler] = []
      /// What each thread runs in: calls its argument. Not explored.
      var surroundings: Surroundings = { $0() }
      /// Called when all threads have ended; throws if something is wrong.
      var check: () throws -> Void

      typealias Surroundings = @Sendable (() -> Void) -> Void

      init(
        threads: [@Sendable () -> Void], workers: [ModelScheduler] = [],
        check: @escaping () throws -> Void
      ) {
        self.threads = threads
        self.workers = workers
        self.check = check
      }
    }

    struct Failure: Error, CustomStringConvertible {
      let error: any Error
      /// Which thread took each step.
      let schedule: [Int]
      let staleReads: [String]

      /// The schedule as how many steps each thread took in a row: `0×12 2×3 0×1`.
      var description: String {
        var stretches: [(thread: Int, steps: Int)] = []
        for thread in schedule {
          if let last = stretches.last, last.thread == thread {
            stretches[stretches.count - 1].steps += 1
          } else {
            stretches.append((thread, 1))
          }
        }
        let text = stretches.map { "\($0.thread)×\($0.steps)" }.joined(separator: " ")
        let reads = staleReads.isEmpty ? "" : ", where \(staleReads.joined(separator: ", "))"
        return "\(error), under the schedule \(text)\(reads)"
      }
    }

    struct Deadlock: Error {}

    /// The same decisions led elsewhere: something in the scenario is not the explorer's to decide.
    struct Unrepeatable: Error {}

    /// Two, and three with STRESS set.
    var preemptions = Rounds.isStress ? 3 : 2

    /// How many loads of a schedule may return an old value. One, and two with STRESS set.
    var staleReads = Rounds.isStress ? 2 : 1

    /// Some locks are the process's: the steps of another exploration would show here.
    private static let alone = Locked(())

    /// Whether it leaves out schedules that differ from another in the order of independent steps
    /// only. Not with STRESS set.
    var reduces = !Rounds.isStress

    /// What a schedule makes for the process is made once, as a rule: then the next exploration
    /// finds it.
    private static let maxRestarts = 8
    /// Unchecked because there is one exploration at a time.
    @safe private nonisolated(unsafe) static var scheduleCount = 0

    struct Exploration {
      var schedules = 0
      /// How many schedules have a preemption whose order counts; none without the reduction.
      var meetings = 0
    }

    /// Explores; returns how much there was, or throws the first failure. One exploration at a
    /// time.
    @discardableResult
    func explore(_ make: () -> Scenario) throws -> Exploration {
      try Self.alone.withLock { _ in try exploreAlone(make) }
    }

    private func exploreAlone(_ make: () -> Scenario) throws -> Exploration {
      let numbers = ModelPlaceNumbers()
      let fibers = FiberPool(numbers)
      var result = Exploration()
      var path = DecisionPath(reduces: reduces)
      var firstSchedule = Self.scheduleCount + 1
      var restarts = 0
      while true {
        let reduction = Reduction(path, numbers, since: firstSchedule)
        try runOne(make, path, reduction, numbers, fibers)
        result.schedules += 1
        if reduction.hasMet { result.meetings += 1 }
        if reduction.hasOtherNumbers {
          restarts += 1
          path = DecisionPath(reduces: restarts < Self.maxRestarts)
          firstSchedule = Self.scheduleCount + 1
        } else if !path.advance() {
          break
        }
      }
      fibers.end()
      return result
    }

    /// Runs the scenario under one schedule.
    private func runOne(
      _ make: () -> Scenario, _ path: DecisionPath, _ reduction: Reduction,
      _ numbers: ModelPlaceNumbers, _ fibers: FiberPool
    ) throws {
      Self.scheduleCount += 1
      numbers.begin(Self.scheduleCount)
      let scenario = fibers.setup.sync(execute: make)
      let run = ModelRun(path, reduction, preemptions: preemptions, staleReads: staleReads)
      let error = run.carryOut(scenario, on: fibers)
      do {
        if let error { throw error }
        try scenario.check()
      } catch {
        if !run.isStuck { fibers.end() }
        throw Failure(error: error, schedule: run.schedule, staleReads: run.staleReads)
      }
    }
  }
#endif
