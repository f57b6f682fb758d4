#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

#if canImport(Darwin)
  enum SystemFunctions {
    /// `POSIX_SPAWN_SETSID`.
    static let startsSession: Int32 = 0x400
  }
#elseif canImport(Musl)
  enum SystemFunctions {
    /// `POSIX_SPAWN_SETSID`.
    static let startsSession: Int32 = 0x80
  }
#endif

#if canImport(Glibc)
  /// Functions that glibc has, but whose headers hide them from Swift (`_GNU_SOURCE`).
  ///
  /// Each is looked up by name once: everything else still works with an older glibc without one of
  /// them.
  enum SystemFunctions {
    /// `POSIX_SPAWN_SETSID`, since 2.26.
    static let startsSession: Int32 = 0x80

    typealias AddDirectory =
      @convention(c) (
        UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>
      ) -> Int32
    typealias AddCloseFrom =
      @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    typealias OpenProcessDescriptor = @convention(c) (pid_t, UInt32) -> Int32

    static let addDirectory = unsafe lookUp(
      "posix_spawn_file_actions_addchdir_np", as: AddDirectory.self)
    static let addCloseFrom = unsafe lookUp(
      "posix_spawn_file_actions_addclosefrom_np", as: AddCloseFrom.self)
    static let openProcessDescriptor = lookUp("pidfd_open", as: OpenProcessDescriptor.self)

    private static func lookUp<Function>(_ name: String, as type: Function.Type) -> Function? {
      guard let symbol = unsafe dlsym(nil, name) else { return nil }
      return unsafe unsafeBitCast(symbol, to: type)
    }
  }
#endif
