import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The number of jobs for which the limits of this process leave room.
struct JobLimit {
  /// The number of jobs, at least 1.
  let jobs: Int
  /// Whether there is room for the threads of this process and one program.
  let isEnough: Bool
  /// A message if the number is lower than `wanted`.
  let note: String?

  /// The most threads that this process has, for any number of jobs: 13 to 20 were counted on two
  /// cores, the most of them on a busy machine.
  static let mostThreads = 24

  /// - Parameters:
  ///   - processRoom: how many more processes and threads are allowed; nil for no limit.
  ///   - descriptorRoom: how many more descriptors may be open; nil for no limit.
  ///   - descriptorsPerJob: the number of descriptors of a running step.
  init(wanted: Int, processRoom: Int?, descriptorRoom: Int?, descriptorsPerJob: Int) {
    // A step is a shell and a pipe of two programs. If a thread of this process took the place of
    // one of them, the shell would fail: "Cannot fork".
    let byProcesses = processRoom.map { ($0 - Self.mostThreads) / 3 } ?? .max
    // This process itself opens a few for a moment.
    let byDescriptors = descriptorRoom.map { ($0 - 12) / descriptorsPerJob } ?? .max
    isEnough = processRoom.map { $0 >= 8 } ?? true
    jobs = max(1, min(wanted, byProcesses, byDescriptors))
    guard jobs < wanted else {
      note = nil
      return
    }
    let limit =
      byProcesses < byDescriptors ? "processes (ulimit -u)" : "open files (ulimit -n)"
    note = "at most \(jobs) of \(wanted) jobs at once, because of the limit on \(limit)"
  }

  /// Whether Dispatch gets threads: without them it would wait for ever.
  static var hasThreads: Bool {
    let isThere = DispatchSemaphore(value: 0)
    // This needs two threads: one watches timers, the other runs the block.
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isThere.signal() }
    return isThere.wait(timeout: .now() + .seconds(3)) == .success
  }

  /// Reads the limits of the system.
  init(wanted: Int, descriptorsPerJob: Int) {
    self.init(
      wanted: wanted, processRoom: Self.processLimit.map { $0 - Self.processCount },
      descriptorRoom: Self.descriptorRoom, descriptorsPerJob: descriptorsPerJob)
  }

  /// How many of the descriptors are missing that this process needs besides its jobs. Without them
  /// Dispatch stops the program without a message.
  static var missingDescriptors: Int { descriptorRoom.map { max(0, 12 - $0) } ?? 0 }

  /// nil for no limit.
  private static var descriptorRoom: Int? {
    guard let limit = descriptorLimit else { return nil }
    if let open = Directory.names(in: "/dev/fd")?.count { return limit - open }
    // No descriptor is free to look with; or there is no such directory: then few are open at the
    // start.
    return errno == EMFILE ? 0 : limit - 8
  }

  private static var descriptorLimit: Int? {
    var limit = rlimit()
    #if canImport(Glibc)
      let code = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      let code = unsafe getrlimit(RLIMIT_NOFILE, &limit)
    #endif
    return code == 0 ? number(limit.rlim_cur) : nil
  }

  /// nil for the superuser, who has no such limit.
  private static var processLimit: Int? {
    guard geteuid() != 0 else { return nil }
    var limit = rlimit()
    #if canImport(Glibc)
      let code = unsafe getrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
    #else
      let code = unsafe getrlimit(RLIMIT_NPROC, &limit)
    #endif
    return code == 0 ? number(limit.rlim_cur) : nil
  }

  private static func number(_ limit: rlim_t) -> Int? {
    // "No limit" reads as a very large number, and such large limits do not matter.
    limit < 1 << 30 ? Int(limit) : nil
  }

  /// The number of processes of this user; on Linux it includes their threads.
  private static var processCount: Int {
    let entries = Directory.names(in: "/proc") ?? []
    return entries.reduce(0) { count, entry in
      var status = stat()
      guard pid_t(entry) != nil, unsafe stat("/proc/\(entry)/task", &status) == 0,
        status.st_uid == getuid()
      else { return count }
      // Such a folder has two links, and one more for each folder in it.
      return count + max(1, Int(status.st_nlink) - 2)
    }
  }
}
