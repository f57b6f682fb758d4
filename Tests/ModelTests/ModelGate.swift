#if MODEL
  import ProcedurePrimitives

  /// Blocks a thread of the explorer until it is opened.
  final class ModelGate: Sendable {
    private final class NoThread: ModelThread {
      func step() {}
      func acquire(_ lock: ModelLock) {}
      func release(_ lock: ModelLock) {}
    }

    /// Held by no thread of the explorer as long as the gate is closed, so that none can acquire it.
    private let lock = ModelLock()

    init() { lock.holder = NoThread() }

    func open() { lock.holder = nil }

    func wait() {
      lock.acquire()
      lock.release()
    }
  }
#endif
