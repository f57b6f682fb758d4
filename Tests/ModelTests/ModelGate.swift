#if MODEL
  import ProcedurePrimitives

  /// Blocks a thread of the explorer until it is opened.
  final class ModelGate: Sendable {
    private final class Nobody: ModelThread {
      func step() {}
      func acquire(_ lock: ModelLock) {}
      func release(_ lock: ModelLock) {}
    }

    /// Nobody has it as long as the gate is closed, so nobody else can.
    private let lock = ModelLock()

    init() { lock.holder = Nobody() }

    func open() { lock.holder = nil }

    func wait() {
      lock.acquire()
      lock.release()
    }
  }
#endif
