import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How many jobs the limits on this process leave room for.
struct JobLimit {
  /// At least 1, whatever the limits.
  let jobs: Int
  /// Whether there is room for the threads of this process and one program.
  let isEnough: Bool
  /// The message about it, when it is less than was asked for.
  let note: String?

  /// - Parameters:
  ///   - processRoom: how many processes and threads more there may be; nil for any number.
  ///   - descriptorRoom: how many descriptors may be open; nil for any number.
  ///   - descriptorsPerJob: how many of them a running step takes.
  init(wanted: Int, processRoom: Int?, descriptorRoom: Int?, descriptorsPerJob: Int) {
    // A step is a shell and a pipe of two programs, say. Threads of our own come and go.
    let byProcesses = processRoom.map { ($0 - 12) / 3 } ?? .max
    // What this process opens for a moment.
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

  /// Whether Dispatch gets threads: without any it waits for them forever, and everything with it.
  static var hasThreads: Bool {
    let isThere = DispatchSemaphore(value: 0)
    // Takes the one that watches timers, and one that works.
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isThere.signal() }
    return isThere.wait(timeout: .now() + .seconds(3)) == .success
  }

  /// By what the system says.
  init(wanted: Int, descriptorsPerJob: Int) {
    self.init(
      wanted: wanted, processRoom: Self.processLimit.map { $0 - Self.processCount },
      descriptorRoom: Self.descriptorRoom, descriptorsPerJob: descriptorsPerJob)
  }

  /// How many descriptors are missing of those that this process needs beside its jobs. Where they are, Dispatch
  /// stops the program without a word.
  static var missingDescriptors: Int { descriptorRoom.map { max(0, 12 - $0) } ?? 0 }

  /// nil for any number.
  private static var descriptorRoom: Int? {
    guard let limit = descriptorLimit else { return nil }
    if let open = Directory.names(in: "/dev/fd")?.count { return limit - open }
    // None is left to look with; or there is no such directory, and few are open at the start.
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

  /// nil for the superuser, whom it does not bind.
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
    // No limit reads as a very large number, and numbers of that size do not matter.
    limit < 1 << 30 ? Int(limit) : nil
  }

  /// How many processes, on Linux with each of their threads, this user has.
  private static var processCount: Int {
    let entries = Directory.names(in: "/proc") ?? []
    return entries.reduce(0) { count, entry in
      var status = stat()
      guard pid_t(entry) != nil, unsafe stat("/proc/\(entry)/task", &status) == 0,
        status.st_uid == getuid()
      else { return count }
      // Such a folder has two links and one for each folder in it.
      return count + max(1, Int(status.st_nlink) - 2)
    }
  }
}
