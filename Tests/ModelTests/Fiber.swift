#if MODEL
  import Dispatch
  import ProcedurePrimitives

  /// A thread of the explorer, used for one schedule after another.
  ///
  /// Plain state suffices: only one of them, or the explorer, runs.
  final class Fiber: ModelThread, @unchecked Sendable {
    private enum Status {
      case ready
      case wants(ModelLock)
      case wantsWork(ModelScheduler)
      case ended
    }

    let number: Int
    private let queue: DispatchQueue
    private let go = DispatchSemaphore(value: 0)
    private let dismissed = DispatchSemaphore(value: 0)
    private var status = Status.ended
    private var run: ModelRun?
    private var body: (() -> Void)?
    private var surroundings: Explorer.Scenario.Surroundings = { $0() }
    /// False in its surroundings, where it does not stop.
    private var isExplored = false
    private var isDismissed = false

    init(number: Int, _ numbers: ModelPlaceNumbers) {
      self.number = number
      queue = DispatchQueue(label: "model \(number)")
      queue.setSpecific(key: ModelPlaceNumbers.key, value: numbers)
      queue.setSpecific(key: ModelSchedule.key, value: self)
      queue.async { [self] in
        go.wait()
        while runBody() { go.wait() }
        // The queue holds the thread that holds the queue.
        queue.setSpecific(key: ModelSchedule.key, value: nil)
      }
    }

    /// False if there is none.
    private func callBody() -> Bool {
      guard let body = body.take() else { return false }
      surroundings {
        isExplored = true
        body()
        isExplored = false
      }
      return true
    }

    /// Calls the body, releases it, and then lets others go on. False if there is none.
    private func runBody() -> Bool {
      guard callBody() else { return false }
      status = .ended
      // Before the next schedule begins.
      let run = run.take()
      if isDismissed { dismissed.signal() } else { run?.handOver(from: self) }
      return true
    }

    func begin(
      _ body: @escaping () -> Void, inside surroundings: @escaping Explorer.Scenario.Surroundings,
      in run: ModelRun
    ) {
      status = .ready
      isDismissed = false
      self.run = run
      self.surroundings = surroundings
      self.body = body
    }

    func beginWorking(
      for scheduler: ModelScheduler, inside surroundings: @escaping Explorer.Scenario.Surroundings,
      in run: ModelRun
    ) {
      begin(
        { [self] in
          while !isDismissed {
            status = .ready
            scheduler.runOne()
            status = .wantsWork(scheduler)
            self.run?.handOver(from: self)
          }
        }, inside: surroundings, in: run)
      status = .wantsWork(scheduler)
    }

    /// The schedule is over: if it waits for work, it ends, unseen.
    func dismiss() {
      guard case .wantsWork = status else { return }
      isDismissed = true
      resume()
      dismissed.wait()
    }

    /// There is no further schedule.
    func end() {
      body = nil
      resume()
    }

    // MARK: As the run sees it

    var isRunnable: Bool {
      switch status {
      case .ready: true
      case .wants(let lock): lock.holder == nil
      case .wantsWork(let scheduler): scheduler.hasWork
      case .ended: false
      }
    }

    /// What it has to wait for.
    var obstacle: ModelPlace? {
      switch status {
      case .wants(let lock): lock.holder == nil ? nil : lock.place
      case .wantsWork(let scheduler): scheduler.hasWork ? nil : scheduler.place
      case .ready, .ended: nil
      }
    }

    var hasEnded: Bool { if case .ended = status { true } else { false } }

    /// Whether it has nothing left to do.
    var isAtRest: Bool {
      switch status {
      case .ended: true
      case .wantsWork(let scheduler): !scheduler.hasWork
      case .ready, .wants: false
      }
    }

    func resume() { go.signal() }
    func wait() { go.wait() }

    // MARK: As the library sees it

    func step() {
      guard isExplored else { return }
      status = .ready
      run?.handOver(from: self)
      run?.reduction.beginBare()
    }

    func acquire(_ lock: ModelLock) {
      guard isExplored else { return }
      status = .wants(lock)
      run?.handOver(from: self)
      lock.holder = self
      status = .ready
      touch(lock.place)
      if let place = lock.memory { run?.memory.acquired(place, by: number) }
    }

    func release(_ lock: ModelLock) {
      guard isExplored else { return }
      touch(lock.place)
      if let place = lock.memory { run?.memory.willRelease(place, by: number) }
      lock.holder = nil
    }

    func load(_ atomic: ModelPlace, holding newest: UInt, _ order: MemoryOrder) -> UInt {
      guard let memory else { return newest }
      read(atomic)
      return memory.load(atomic, holding: newest, order, by: number)
    }

    func store(_ new: UInt, in atomic: ModelPlace, over old: UInt, _ order: MemoryOrder) {
      touch(atomic)
      memory?.store(new, in: atomic, over: old, order, by: number)
    }

    func change(_ atomic: ModelPlace, from old: UInt, to new: UInt?, _ order: MemoryOrder) {
      if new == nil { read(atomic) } else { touch(atomic) }
      memory?.change(atomic, from: old, to: new, order, by: number)
    }

    func use(_ data: ModelPlace, _ name: StaticString) {
      touch(data)
      memory?.use(data, name, by: number)
    }

    func useLast(_ data: ModelPlace) {
      touch(data)
      memory?.useLast(data, by: number)
    }

    func touch(_ place: ModelPlace) { access(place, isWrite: true) }
    func read(_ place: ModelPlace) { access(place, isWrite: false) }

    private func access(_ place: ModelPlace, isWrite: Bool) {
      if isExplored { run?.reduction.access(place, isWrite: isWrite) }
    }

    private var memory: WeakMemory? { isExplored ? run?.memory : nil }

    // MARK: For what hands work from one thread to another

    /// What the thread of the explorer knows that calls; nil on another thread.
    static var knowledge: View? {
      guard let fiber = ModelSchedule.thread as? Fiber else { return nil }
      return fiber.memory?.view(of: fiber.number)
    }

    /// The thread of the explorer that calls learns what another one knew.
    static func learn(_ knowledge: View?) {
      guard let knowledge, let fiber = ModelSchedule.thread as? Fiber else { return }
      fiber.memory?.learn(knowledge, by: fiber.number)
    }
  }

  /// The threads of one exploration. After a failure they are left where they are.
  final class FiberPool {
    private var fibers: [Fiber] = []
    private let numbers: ModelPlaceNumbers
    /// Scenarios are made on it.
    let setup = DispatchQueue(label: "model setup")

    init(_ numbers: ModelPlaceNumbers) {
      self.numbers = numbers
      setup.setSpecific(key: ModelPlaceNumbers.key, value: numbers)
    }

    func take(_ count: Int) -> ArraySlice<Fiber> {
      while fibers.count < count { fibers.append(Fiber(number: fibers.count, numbers)) }
      return fibers.prefix(count)
    }

    func end() {
      for fiber in fibers { fiber.end() }
    }
  }
#endif
