#if os(macOS) || os(Linux)
  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Writes bytes into a pipe as its reader takes them, then closes it.
  ///
  /// Everything here runs on the supervisor's thread. A reader that went away early
  /// ends the writing without an error: a program may ignore its input.
  final class InputWriter: @unchecked Sendable {
    private let descriptor: Int32
    private let supervisor: ProcessSupervisor
    private var wait: DescriptorWaits.Identifier?
    private var rest: Data
    private var isClosed = false

    init(_ descriptor: Int32, data: Data, _ supervisor: ProcessSupervisor) {
      self.descriptor = descriptor
      self.supervisor = supervisor
      rest = data
      FileDescriptorPair.makeNonBlocking(descriptor)
      #if canImport(Darwin)
        // There SIGPIPE goes to the whole process, so blocking it in one thread is not enough.
        _ = fcntl(descriptor, F_SETNOSIGPIPE, 1)
      #endif
    }

    func start() {
      wait = supervisor.wait(for: descriptor, .writing) {
        self.wait = nil
        self.writePiece()
        if !self.isClosed { self.start() }
      }
    }

    func stop() {
      guard !isClosed else { return }
      isClosed = true
      if let wait { supervisor.forget(wait) }
      close(descriptor)
    }

    private func writePiece() {
      let count = Self.withoutBrokenPipeSignal {
        unsafe rest.withUnsafeBytes { buffer in
          unsafe write(descriptor, buffer.baseAddress, min(buffer.count, 65536))
        }
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count < 0, errno == EAGAIN || errno == EINTR {
        return
      }
      if rest.isEmpty || count < 0 { stop() }
    }

    /// Keeps SIGPIPE, which a write to a pipe without a reader raises, from ending this process.
    ///
    /// It is raised in this thread: blocked and taken away here, nothing changes for others.
    private static func withoutBrokenPipeSignal(_ body: () -> Int) -> Int {
      var pipeSignal = sigset_t()
      unsafe sigemptyset(&pipeSignal)
      unsafe sigaddset(&pipeSignal, SIGPIPE)
      var pending = sigset_t()
      unsafe sigpending(&pending)
      let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
      var before = sigset_t()
      unsafe pthread_sigmask(SIG_BLOCK, &pipeSignal, &before)
      let count = body()
      let code = errno
      if count < 0, code == EPIPE, !wasPending {
        var taken: Int32 = 0
        unsafe sigpending(&pending)
        if unsafe sigismember(&pending, SIGPIPE) == 1 { unsafe sigwait(&pipeSignal, &taken) }
      }
      unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
      errno = code
      return count
    }
  }
#endif
