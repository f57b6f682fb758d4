#if os(macOS) || os(Linux)
  internal import Dispatch
  internal import ProcedurePrimitives
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// One thread for all programs: it waits for their pipes and ends, runs their deadlines, and does
  /// posted work.
  ///
  /// It does not use Dispatch, for two reasons. A Dispatch queue for each program is a thread for
  /// each program, and under a limit on threads Dispatch waits forever, for one more thread only.
  /// And Dispatch sources for pipes crashed in most test runs on Linux, in Dispatch's own event
  /// loop, while pipes closed and their sources were cancelled. The stack is that of a known use
  /// after free (swift-corelibs-libdispatch issue 949).
  ///
  /// 1. Everything but `post` and `prepare` is confined to the thread.
  /// 2. The thread runs no user code, which goes to `HandlerThreads`. So no handler keeps a program
  ///    from being ended.
  /// 3. A wait ends after one call of its handler, or by `forget`; then the descriptor may be
  ///    closed.
  final class ProcessSupervisor: @unchecked Sendable {
    typealias Body = @Sendable () -> Void

    static let shared = ProcessSupervisor()

    private struct Mailbox {
      var bodies: [Body] = []
      var isAsleep = false
      var hasThread = false

      mutating func takeBodies() -> [Body] {
        defer { bodies = [] }
        return bodies
      }
    }

    private let mailbox = Locked(Mailbox())
    private let wakeUp: FileDescriptorPair?
    private var waits: DescriptorWaits
    private var deadlines = DeadlineList()
    var programCount = 0

    private init() {
      wakeUp = FileDescriptorPair()
      if let wakeUp {
        FileDescriptorPair.makeNonBlocking(wakeUp.reading)
        FileDescriptorPair.makeNonBlocking(wakeUp.writing)
      }
      waits = DescriptorWaits(wakeUp: wakeUp?.reading ?? -1)
    }

    /// Makes the thread, unless it exists; false if the system refuses it.
    func prepare() -> Bool {
      let mustStart = mailbox.withLock { mailbox in
        defer { mailbox.hasThread = true }
        return !mailbox.hasThread
      }
      guard mustStart else { return true }
      let isStarted = BackgroundThread.start { self.run() }
      if !isStarted { mailbox.withLock { $0.hasThread = false } }
      return isStarted
    }

    /// Posts work to the thread, which does it after earlier work. May be called from any thread.
    func post(_ body: @escaping Body) {
      let mustWake = mailbox.withLock { mailbox in
        mailbox.bodies.append(body)
        defer { mailbox.isAsleep = false }
        return mailbox.isAsleep
      }
      if mustWake { wake() }
    }

    // MARK: On the thread

    /// Calls `handler` once, when the descriptor is ready, closed by its peer, or broken.
    func wait(
      for descriptor: Int32, _ readiness: DescriptorWaits.Readiness, handler: @escaping Body
    ) -> DescriptorWaits.Identifier {
      waits.add(descriptor, readiness, handler)
    }

    func forget(_ identifier: DescriptorWaits.Identifier) { waits.remove(identifier) }

    func after(_ duration: Duration, _ body: @escaping Body) {
      deadlines.add(body, at: .now + duration)
    }

    private func run() {
      while true {
        for body in mailbox.withLock({ $0.takeBodies() }) { body() }
        for body in deadlines.takeDue(at: .now) { body() }
        let mayWait = mailbox.withLock { mailbox in
          mailbox.isAsleep = mailbox.bodies.isEmpty
          return mailbox.isAsleep
        }
        let ready = waits.poll(milliseconds: mayWait ? patience : 0)
        mailbox.withLock { $0.isAsleep = false }
        if let wakeUp, ready.isWokenUp { drain(wakeUp.reading) }
        for identifier in ready.identifiers { waits.take(identifier)?() }
      }
    }

    /// The time until the next deadline, in milliseconds; -1 for forever.
    private var patience: Int32 {
      // Without a wake-up pipe, in a process that had no descriptors left, poll often.
      let longest: Int32 = wakeUp == nil ? 10 : -1
      guard let next = deadlines.next else { return longest }
      // Rounded up, or it would poll in vain until the millisecond is over.
      let wait = (next - .now) / .milliseconds(1)
      let milliseconds = Int32(min(max(wait.rounded(.up), 0), 1_000_000))
      return longest < 0 ? milliseconds : min(longest, milliseconds)
    }

    private func wake() {
      guard let wakeUp else { return }
      var byte: UInt8 = 0
      _ = unsafe write(wakeUp.writing, &byte, 1)
    }

    private func drain(_ descriptor: Int32) {
      var bytes: (UInt64, UInt64) = (0, 0)
      while unsafe read(descriptor, &bytes, 16) > 0 {}
    }
  }
#endif
