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

  /// Writes a stream into a pipe as fast as the program reads it, then closes the pipe.
  ///
  /// Everything here runs on the supervisor's thread. A reader that closes early ends the writing
  /// without an error: a program may ignore its input.
  final class InputWriter: @unchecked Sendable {
    private let descriptor: Int32
    private let supervisor: ProcessSupervisor
    private var wait: DescriptorWaits.Identifier?
    private let stream: ProcessInputStream
    private var isClosed = false

    init(_ descriptor: Int32, _ stream: ProcessInputStream, _ supervisor: ProcessSupervisor) {
      self.descriptor = descriptor
      self.supervisor = supervisor
      self.stream = stream
      Self.prepare(descriptor)
    }

    /// Prepares a descriptor, once, before bytes are written to it.
    static func prepare(_ descriptor: Int32) {
      FileDescriptorPair.makeNonBlocking(descriptor)
      #if canImport(Darwin)
        // There SIGPIPE goes to the whole process, so blocking it in one thread is not enough.
        _ = fcntl(descriptor, F_SETNOSIGPIPE, 1)
      #endif
    }

    func start() {
      guard !isClosed else { return }
      switch stream.next(orWake: { self.supervisor.post { self.start() } }) {
      case .nothingYet: break
      case .end: stop()
      case .bytes(let bytes):
        wait = supervisor.wait(for: descriptor, .writing) {
          self.wait = nil
          self.write(bytes)
          self.start()
        }
      }
    }

    func stop() {
      guard !isClosed else { return }
      isClosed = true
      if let wait { supervisor.forget(wait) }
      close(descriptor)
      stream.close()
    }

    private func write(_ bytes: Data) {
      let count = Self.write(bytes.prefix(65_536), to: descriptor)
      if count > 0 {
        stream.take(count)
      } else if count < 0, errno != EAGAIN, errno != EINTR {
        stop()
      }
    }

    /// Like the system's `write`, without SIGPIPE.
    static func write(_ bytes: Data, to descriptor: Int32) -> Int {
      withoutBrokenPipeSignal {
        unsafe bytes.withUnsafeBytes { buffer in
          unsafe writeBytes(descriptor, buffer.baseAddress, buffer.count)
        }
      }
    }

    /// Keeps SIGPIPE, which a write to a pipe without a reader raises, from ending this process.
    ///
    /// It is raised in this thread: blocking and consuming it here changes nothing for other
    /// threads.
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

  /// It needs another name, since a method is called `write`.
  private func writeBytes(
    _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int
  ) -> Int {
    unsafe write(descriptor, bytes, count)
  }
#endif
