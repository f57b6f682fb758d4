#if MODEL
  import ProcedurePrimitives

  /// Blocks a thread of the explorer until it is opened.
  final class ModelGate: Sendable {
    private final class NoThread: ModelThread {
      func step() {}
      func acquire(_ lock: ModelLock) {}
      func release(_ lock: ModelLock) {}
      func load(_ atomic: ModelPlace, holding newest: UInt, _ order: MemoryOrder) -> UInt { newest }
      func store(_ new: UInt, in atomic: ModelPlace, over old: UInt, _ order: MemoryOrder) {}
      func change(_ atomic: ModelPlace, from old: UInt, to new: UInt?, _ order: MemoryOrder) {}
      func use(_ data: ModelPlace, _ name: StaticString) {}
      func useLast(_ data: ModelPlace) {}
      func touch(_ place: ModelPlace) {}
    }

    /// Held by no thread of the explorer as long as the gate is closed, so that none can acquire
    /// it.
    private let lock = ModelLock()

    init() { lock.holder = NoThread() }

    func open() {
      // As the one that opens it: a thread that waited knows what it knew.
      if let thread = ModelSchedule.thread { thread.release(lock) } else { lock.holder = nil }
    }

    func wait() {
      lock.acquire()
      lock.release()
    }
  }
#endif
