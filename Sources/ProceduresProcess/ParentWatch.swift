#if os(macOS) || os(Linux)
  internal import ProcedurePrimitives
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

  /// Ends programs when this process has ended in any way, for `endsWithThisProcess`.
  ///
  /// A separate process does that, the watch: a shell that reads from a pipe whose other end only
  /// this process has open. It reads the groups as lines, and ends them when it meets the end of
  /// the file.
  ///
  /// `PR_SET_PDEATHSIG` does not help: Darwin has none, `posix_spawn` cannot set it, and Linux
  /// sends it when the *thread* that started the program ends.
  ///
  /// On Linux it reads the output of these programs from then on: nobody else does, and a program
  /// that writes as it cleans up would be ended by SIGPIPE.
  ///
  /// 1. A program's group is added right after its start, before the starting thread goes on.
  /// 2. It is removed before the system can give its identifier to another process.
  /// 3. A watch that was killed is replaced when the next program starts.
  final class ParentWatch: Sendable {
    static let shared = ParentWatch()

    fileprivate struct State: Sendable {
      var pipe: Int32?
      var watch: pid_t = 0
      var groups: [pid_t: Group] = [:]
    }

    fileprivate struct Group: Sendable {
      /// The seconds between SIGTERM and SIGKILL.
      let grace: Int64
      /// The numbers of the pipes through which this process reads its output.
      let outputs: [UInt64]
    }

    private let state = Locked(State())

    /// Starts the watch unless it runs. Called before the start of a program that will be added.
    func prepare(for configuration: ProcessConfiguration) throws(ProcessError) -> Spawner.Outcome? {
      let start = state.withLock { state -> Result<Spawner.Outcome, ProcessError>? in
        // A line without meaning shows whether the watch still reads.
        if let pipe = state.pipe, Self.send("=", to: pipe) { return nil }
        return Self.startWatch(&state)
      }
      switch start {
      case nil, .success(.running)?: return nil
      case .success(let outcome)?: return outcome
      case .failure(let error)?:
        throw ProcessError(
          .notStarted, program: configuration.program,
          "'\(configuration.program)' could not be started, since the shell that ends it with this "
            + "process could not: \(error.description)")
      }
    }

    /// - Parameter outputs: the descriptors from which this process reads the program's output.
    func add(_ group: pid_t, grace: Duration, outputs: [Int32]) {
      let pipes = outputs.compactMap(Self.number)
      state.withLock { state in
        let seconds = max(0, (grace / .seconds(1)).rounded(.up))
        state.groups[group] = Group(grace: Int64(min(seconds, 1_000_000)), outputs: pipes)
        if let pipe = state.pipe { _ = Self.send(state.line("+", group), to: pipe) }
      }
    }

    /// Does nothing for a group that was not added.
    func remove(_ group: pid_t) {
      state.withLock { state in
        guard state.groups[group] != nil else { return }
        if let pipe = state.pipe { _ = Self.send(state.line("-", group), to: pipe) }
        state.groups[group] = nil
      }
    }

    /// For tests.
    var groupCount: Int { state.withLock { $0.groups.count } }
    var watchIdentifier: pid_t { state.withLock { $0.watch } }

    private static func startWatch(_ state: inout State) -> Result<Spawner.Outcome, ProcessError> {
      if let pipe = state.pipe.take() {
        // Kill it first: a watch that was only stopped would take the end of its input for the end
        // of this process.
        kill(state.watch, SIGKILL)
        close(pipe)
        let watch = state.watch
        ProcessSupervisor.shared.post {
          ExitWatcher.watch(watch, by: .shared) { _ = ChildStatus.reap(watch) }
        }
      }
      var configuration = ProcessConfiguration(
        program: "/bin/sh", arguments: ["-c", script, "procedures-parent-watch"])
      configuration.directory = "/"
      configuration.environment = ["PATH": "/usr/bin:/bin"]
      guard let pipe = FileDescriptorPair() else { return .success(.busy(code: errno)) }
      defer { close(pipe.reading) }
      let outcome = Result { () throws(ProcessError) in
        try Spawner(
          configuration: configuration, input: .descriptor(pipe.reading), output: .null,
          error: .null, hasTerminal: false
        ).spawn()
      }
      guard case .success(.running(let watch)) = outcome else {
        close(pipe.writing)
        return outcome
      }
      // A stopped watch must not block this process.
      InputWriter.prepare(pipe.writing)
      (state.pipe, state.watch) = (pipe.writing, watch)
      for group in state.groups.keys { _ = send(state.line("+", group), to: pipe.writing) }
      return outcome
    }

    /// The number by which `/proc` names a pipe.
    private static func number(of descriptor: Int32) -> UInt64? {
      var status = stat()
      return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    private static func send(_ line: String, to pipe: Int32) -> Bool {
      let bytes = Data((line + "\n").utf8)
      return InputWriter.write(bytes, to: pipe) == bytes.count
    }

    /// The script reads numbers only, and no user data.
    private static let script = """
      programs=' '
      while read -r word program; do
        case $word in
          +) programs="$programs$program " ;;
          -) programs="${programs%% $program *} ${programs#* $program }" ;;
        esac
      done
      # Reads the pipe on standard input, if it is an output of the program.
      drain() {
        pipe=$(readlink /proc/self/fd/0)
        pipe=${pipe#*[}
        case "$1:" in *:p"${pipe%]}":*) exec cat ;; esac
      }
      for program in $programs; do
        for stream in 1 2; do
          file=/proc/${program%%:*}/fd/$stream
          if [ -p "$file" ]; then
            { drain "$program" <&3 3<&- & } 3< "$file"
          fi
        done
      done
      for program in $programs; do
        kill -TERM "-${program%%:*}"
        kill -CONT "-${program%%:*}"
      done
      second=0
      while [ "$programs" != ' ' ]; do
        rest=' '
        for program in $programs; do
          grace=${program#*:}
          if [ "$second" -ge "${grace%%:*}" ]; then
            kill -KILL "-${program%%:*}"
          elif kill -0 "-${program%%:*}"; then
            rest="$rest$program "
          fi
        done
        programs=$rest
        second=$((second + 1))
        [ "$programs" = ' ' ] || sleep 1
      done
      """
  }

  extension ParentWatch.State {
    /// A group is written as `4711:3:p9007`: its identifier, its seconds, and its pipes.
    fileprivate func line(_ word: String, _ group: pid_t) -> String {
      let known = groups[group]
      let pipes = known?.outputs.map { ":p\($0)" }.joined() ?? ""
      return "\(word) \(group):\(known?.grace ?? 0)\(pipes)"
    }
  }
#endif
