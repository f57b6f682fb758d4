#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The two ends of a pipe, both closed on exec and both above the standard streams.
  ///
  /// They are above 2, because in a process with a closed standard stream a pipe would get its
  /// number, and setting up the child's streams one after the other would overwrite it.
  struct FileDescriptorPair {
    let reading: Int32
    let writing: Int32

    init?() {
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0 else { return nil }
      reading = Self.raised(ends[0])
      writing = Self.raised(ends[1])
      guard reading >= 0, writing >= 0 else {
        closeBoth()
        return nil
      }
    }

    func closeBoth() {
      for end in [reading, writing] where end >= 0 { close(end) }
    }

    private static func raised(_ descriptor: Int32) -> Int32 {
      guard descriptor <= 2 else {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
      }
      defer { close(descriptor) }
      return fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }

    static func makeNonBlocking(_ descriptor: Int32) {
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
  }
#endif
