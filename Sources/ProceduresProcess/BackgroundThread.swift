#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// A thread of our own.
  ///
  /// Not `Foundation.Thread`, which does not report that the system refused a thread.
  package enum BackgroundThread {
    private final class Start: Sendable {
      let body: @Sendable () -> Void

      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread; false if the system has none to give.
    ///
    /// No signal handler of the process runs there.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
      var all = sigset_t()
      unsafe sigfillset(&all)
      var before = sigset_t()
      // The new thread inherits the mask.
      unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
      defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

      let start = unsafe Unmanaged.passRetained(Start(body))
      #if canImport(Darwin)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let code = unsafe pthread_create(&thread, nil, enter, start.toOpaque())
      if code != 0 {
        unsafe start.release()
        return false
      }
      #if canImport(Darwin)
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
      #else
        pthread_detach(thread)
      #endif
      return true
    }

    #if canImport(Darwin)
      private static let enter:
        @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { argument in
          unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
          return nil
        }
    #else
      private static let enter:
        @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
          if let argument = unsafe argument {
            unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
          }
          return nil
        }
    #endif
  }
#endif
