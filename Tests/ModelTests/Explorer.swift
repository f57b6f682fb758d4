#if MODEL
  import Dispatch
  import Primitives

  /// Runs a scenario under every schedule of its threads, up to a number of preemptions.
  ///
  /// The library is built with `-DMODEL`, so that each lock and each atomic access is a scheduling
  /// point. One thread runs at a time, and at each point the explorer decides which goes on: depth
  /// first over all decisions. A decision to take the processor from a thread that could go on is a
  /// preemption; two of them find nearly all races that there are. Weak memory is not modelled.
  struct Explorer {
    /// What one run of a scenario consists of: made anew for each schedule.
    struct Scenario {
      var threads: [@Sendable () -> Void]
      /// Called when all threads have ended; throws if something is wrong.
      var check: () throws -> Void
    }

    struct Failure: Error, CustomStringConvertible {
      let error: any Error
      let schedule: [Int]

      var description: String { "\(error), under the schedule \(schedule)" }
    }

    struct Deadlock: Error {}

    private struct Decision {
      var choice: Int
      let options: Int
    }

    var preemptions = 2

    /// Explores; returns the number of schedules, or throws the first failure.
    func explore(_ make: () -> Scenario) throws -> Int {
      var path: [Decision] = []
      var schedules = 0
      while true {
        let scenario = make()
        let schedule = try run(scenario, path: &path)
        schedules += 1
        do {
          try scenario.check()
        } catch {
          throw Failure(error: error, schedule: schedule)
        }
        while let last = path.last, last.choice + 1 == last.options { path.removeLast() }
        guard !path.isEmpty else { return schedules }
        path[path.count - 1].choice += 1
      }
    }

    private func run(_ scenario: Scenario, path: inout [Decision]) throws -> [Int] {
      let threads = scenario.threads.map(Fiber.init)
      for thread in threads { thread.start() }
      var current: Fiber?
      var (step, preemptionsLeft) = (0, preemptions)
      var schedule: [Int] = []
      while true {
        let runnable = threads.indices.filter { threads[$0].isRunnable }
        guard !runnable.isEmpty else {
          if threads.allSatisfy(\.hasEnded) { return schedule }
          throw Failure(error: Deadlock(), schedule: schedule)
        }
        var options = runnable
        if let current, let index = options.firstIndex(where: { threads[$0] === current }) {
          options.swapAt(0, index)
          if preemptionsLeft == 0 { options = [options[0]] }
        }
        if step == path.count { path.append(Decision(choice: 0, options: options.count)) }
        let next = options[path[step].choice]
        if let current, current.isRunnable, threads[next] !== current { preemptionsLeft -= 1 }
        step += 1
        schedule.append(next)
        current = threads[next]
        threads[next].resumeUntilNextPoint()
      }
    }
  }

  /// A thread of the explorer. Plain state suffices: only one of them, or the explorer, runs.
  private final class Fiber: ModelThread, @unchecked Sendable {
    private enum Status {
      case ready
      case wants(ModelLock)
      case ended
    }

    private let body: @Sendable () -> Void
    private let queue = DispatchQueue(label: "model")
    private let go = DispatchSemaphore(value: 0)
    private let paused = DispatchSemaphore(value: 0)
    private var status = Status.ready

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }

    var isRunnable: Bool {
      switch status {
      case .ready: true
      case .wants(let lock): lock.holder == nil
      case .ended: false
      }
    }

    var hasEnded: Bool { if case .ended = status { true } else { false } }

    func start() {
      queue.setSpecific(key: ModelSchedule.key, value: self)
      queue.async { [self] in
        go.wait()
        body()
        status = .ended
        // The queue holds the thread that holds the queue.
        queue.setSpecific(key: ModelSchedule.key, value: nil)
        paused.signal()
      }
    }

    func resumeUntilNextPoint() {
      go.signal()
      paused.wait()
    }

    func step() {
      status = .ready
      pause()
    }

    func acquire(_ lock: ModelLock) {
      status = .wants(lock)
      pause()
      lock.holder = self
      status = .ready
    }

    func release(_ lock: ModelLock) {
      lock.holder = nil
    }

    private func pause() {
      paused.signal()
      go.wait()
    }
  }
#endif
