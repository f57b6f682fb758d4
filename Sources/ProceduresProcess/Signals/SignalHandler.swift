#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  // The signal handler reads these variables. Nothing may be initialised in it, so they are plain
  // memory, written before the handler is installed.

  /// The writing end of the pipe.
  nonisolated(unsafe) private var pipeEnd: Int32 = -1

  /// The former action of each signal.
  nonisolated(unsafe) private var previousActions: UnsafeMutablePointer<sigaction>?

  /// The system's side of catching signals. Its functions are called under the lock of
  /// `SignalWatches`.
  enum SignalHandler {
    private static let signalCount: Int32 = 128

    /// Prepares the handler's memory. Returns the reading end of the pipe; nil if the system has no
    /// descriptors left.
    static func openPipe() -> Int32? {
      // A pipe with the number of a closed standard stream would turn each printed byte into a
      // signal.
      guard let pipe = FileDescriptorPair() else { return nil }
      // A handler must not block.
      FileDescriptorPair.makeNonBlocking(pipe.writing)
      unsafe previousActions = .allocate(capacity: Int(signalCount))
      unsafe previousActions?.initialize(repeating: sigaction(), count: Int(signalCount))
      unsafe pipeEnd = pipe.writing
      return pipe.reading
    }

    /// Catches a signal from now on. False if it cannot be caught, or is a `SIGHUP` that the
    /// process ignores.
    static func install(for signal: Int32) -> Bool {
      guard signal > 0, signal < signalCount, let previous = unsafe previousActions,
        unsafe sigaction(signal, nil, previous + Int(signal)) == 0
      else { return false }
      if signal == SIGHUP, unsafe isIgnoring(previous[Int(signal)]) { return false }
      var action = sigaction()
      unsafe sigfillset(&action.sa_mask)
      action.sa_flags = SA_RESTART
      set(note, in: &action)
      return unsafe sigaction(signal, &action, nil) == 0
    }

    /// Restores the former action of the signal.
    static func uninstall(for signal: Int32) {
      guard let previous = unsafe previousActions else { return }
      _ = unsafe sigaction(signal, previous + Int(signal), nil)
    }

    /// The handler. It may only call async-signal-safe functions.
    private static let note: @convention(c) (Int32) -> Void = { signal in
      let code = errno
      if let previous = unsafe previousActions {
        _ = unsafe sigaction(signal, previous + Int(signal), nil)
      }
      var byte = UInt8(truncatingIfNeeded: signal)
      _ = unsafe write(pipeEnd, &byte, 1)
      errno = code
    }

    private static func set(
      _ handler: @escaping @convention(c) (Int32) -> Void, in action: inout sigaction
    ) {
      #if canImport(Darwin)
        unsafe action.__sigaction_u.__sa_handler = handler
      #elseif canImport(Glibc)
        unsafe action.__sigaction_handler.sa_handler = handler
      #else
        unsafe action.__sa_handler.sa_handler = handler
      #endif
    }

    private static func isIgnoring(_ action: sigaction) -> Bool {
      #if canImport(Darwin)
        let handler = unsafe action.__sigaction_u.__sa_handler
      #elseif canImport(Glibc)
        let handler = unsafe action.__sigaction_handler.sa_handler
      #else
        let handler = unsafe action.__sa_handler.sa_handler
      #endif
      // SIG_IGN.
      return unsafe unsafeBitCast(handler, to: Int.self) == 1
    }
  }
#endif
