#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Starts threads that belong to this module.
  ///
  /// `Foundation.Thread` does not report that the system refused a thread.
  package enum BackgroundThread {
    /// The size of the main thread's stack, and of glibc's threads. User code would otherwise have
    /// 512 KB on Darwin and 128 KB on musl. Only used pages take memory.
    private static let stackSize = 8 << 20

    private final class Start: Sendable {
      let body: @Sendable () -> Void

      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread; false if the system refuses one.
    ///
    /// No signal handler of the process runs there.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
      var all = sigset_t()
      unsafe sigfillset(&all)
      var before = sigset_t()
      // The new thread inherits the mask.
      unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
      defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

      // Allocated, since on Linux several modules declare the type, and none an initializer for
      // all.
      let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
      unsafe pthread_attr_init(attributes)
      unsafe pthread_attr_setstacksize(attributes, stackSize)
      unsafe pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
      defer {
        unsafe pthread_attr_destroy(attributes)
        unsafe attributes.deallocate()
      }

      let start = unsafe Unmanaged.passRetained(Start(body))
      #if canImport(Darwin) || canImport(Musl)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let code = unsafe pthread_create(&thread, attributes, enter, start.toOpaque())
      if code != 0 { unsafe start.release() }
      return code == 0
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
