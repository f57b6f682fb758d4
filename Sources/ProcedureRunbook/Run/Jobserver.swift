internal import ProcedurePrimitives
import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Shares the jobs of a run with `make` and other programs that know its jobserver.
///
/// A named pipe holds a token for each job but the first, like the pipe of `make`. A step takes a
/// token for each processor that it uses, and a `make` takes one for each job after its first:
/// together they never exceed `--jobs`.
///
/// 1. The first job needs no token. So the running steps together have taken one token less than
///    they use.
/// 2. Waiting steps get tokens in the order of their requests, one step after the other.
/// 3. When nothing runs, the pipe is refilled, since a killed `make` may have taken tokens with it.
final class Jobserver: Sendable {
  /// The descriptor of the pipe in commands.
  private static let descriptorInPrograms = 8

  static var folder: String { ProcessEnvironment.inherited["TMPDIR"] ?? "/tmp" }

  private let path: String
  private let descriptor: Int32
  private let jobs: Int
  private let state = Locked(State())

  private struct Waiting {
    let number: Int
    let wanted: Int
    var missing: Int
    let begin: @Sendable (_ isTaken: Bool) -> Void
  }

  private struct State {
    /// The number of processors that steps use, or have tokens for.
    var used = 0
    var waiting: [Waiting] = []
    var isWatching = false
    var number = 0
  }

  /// Returns nil if no pipe can be created.
  init?(jobs: Int) {
    path = "\(Self.folder)/runbook-jobs-\(getpid())-\(UInt32.random(in: .min ... .max))"
    self.jobs = jobs
    guard unsafe mkfifo(path, 0o600) == 0 else { return nil }
    descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      _ = unsafe unlink(path)
      return nil
    }
    put(jobs - 1)
  }

  deinit {
    close(descriptor)
    remove()
  }

  func remove() { _ = unsafe unlink(path) }

  /// Returns a shell command that opens the pipe and then runs `text`.
  func command(_ text: String) -> String {
    "exec \(Self.descriptorInPrograms)<>\(path.shellWord); \(text)"
  }

  /// The value of `MAKEFLAGS`.
  func flags(besides flags: String?) -> String {
    let descriptor = Self.descriptorInPrograms
    return "\(flags ?? "") -j\(jobs) --jobserver-auth=\(descriptor),\(descriptor)"
  }

  // MARK: Steps

  /// Calls `begin` when there are tokens for a step: before it returns, or later. Returns a number
  /// for `abandon`.
  func take(_ processors: Int, _ begin: @escaping @Sendable (_ isTaken: Bool) -> Void) -> Int {
    let wanted = min(max(processors, 1), jobs)
    let number = state.withLock { state in
      state.number += 1
      if state.used == 0, state.waiting.isEmpty { refill() }
      state.waiting.append(
        Waiting(number: state.number, wanted: wanted, missing: wanted, begin: begin))
      return state.number
    }
    go()
    return number
  }

  /// Called for a cancelled step: if it still waits, it begins without tokens.
  func abandon(_ number: Int) {
    let abandoned = state.withLock { state in
      state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
    }
    guard let abandoned else { return }
    // Before the steps behind it, which another thread may begin as soon as there are tokens.
    abandoned.begin(false)
    state.withLock { giveBack(abandoned.wanted - abandoned.missing, &$0) }
    go()
  }

  /// Called when a step that has begun ends.
  func giveBack(_ processors: Int) {
    state.withLock { giveBack(min(max(processors, 1), jobs), &$0) }
    go()
  }

  private func giveBack(_ count: Int, _ state: inout State) {
    guard count > 0 else { return }
    state.used -= count
    // The last job to end has no token to give back.
    put(state.used == 0 ? count - 1 : count)
  }

  /// Gives available tokens to waiting steps.
  private func go() {
    let (begun, mustWatch) = state.withLock { state in
      var begun: [Waiting] = []
      while var first = state.waiting.first {
        while first.missing > 0, state.used == 0 || takeOne() {
          state.used += 1
          first.missing -= 1
        }
        state.waiting[0] = first
        guard first.missing == 0 else { break }
        begun.append(state.waiting.removeFirst())
      }
      let mustWatch = !state.waiting.isEmpty && !state.isWatching
      if mustWatch { state.isWatching = true }
      return (begun, mustWatch)
    }
    for waiting in begun { waiting.begin(true) }
    // Without that thread, waiting steps continue when a step ends.
    if mustWatch, !BackgroundThread.start({ self.watch() }) {
      state.withLock { $0.isWatching = false }
    }
  }

  /// Waits for tokens that a `make` puts back.
  private func watch() {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&entry, 1, 100)
      go()
      let isOver = state.withLock { state in
        if state.waiting.isEmpty { state.isWatching = false }
        return !state.isWatching
      }
      if isOver { return }
    }
  }

  // MARK: The pipe

  private func takeOne() -> Bool {
    var token: UInt8 = 0
    return unsafe read(descriptor, &token, 1) == 1
  }

  private func put(_ count: Int) {
    for _ in 0..<max(count, 0) {
      var token = UInt8(ascii: "+")
      _ = unsafe write(descriptor, &token, 1)
    }
  }

  private func refill() {
    while takeOne() {}
    put(jobs - 1)
  }
}
