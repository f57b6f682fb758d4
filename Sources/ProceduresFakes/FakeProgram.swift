#if os(macOS) || os(Linux)
  public import Foundation
  internal import ProcedurePrimitives
  internal import ProceduresProcess
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The behaviour of a program of `FakePrograms`: it writes, waits, and ends, step by step.
  ///
  /// ```swift
  /// let check = FakeProgram()
  ///   .output("reading\n").wait(.seconds(5)).errorOutput("no such key\n").exit(3)
  /// let stubborn = FakeProgram.hanging.ignoringTermination()
  /// ```
  ///
  /// Without another end it exits with status 0 after its last step. All times are by the queue's
  /// clock.
  public struct FakeProgram: Sendable {
    enum Event: Sendable {
      case output(Data)
      case errorOutput(Data)
      case end(ProcessExit)
    }

    enum Reaction: Sendable {
      case ends
      case goesOn
      indirect case changes(to: FakeProgram)
    }

    /// The steps, without the wait that follows them.
    private var played: [Playback<Event>.Step] = []
    private var wait = Duration.zero
    private var hasEnd = false
    private(set) var reaction = Reaction.ends
    private(set) var isMissing = false

    /// A program that exits with status 0 at once, unless you add steps.
    public init() {}

    /// A program that runs until a signal ends it.
    public static var hanging: FakeProgram {
      var program = FakeProgram()
      program.hasEnd = true
      return program
    }

    /// A program that does not exist: the procedure fails with `ProcessError.Code.programNotFound`.
    public static var missing: FakeProgram {
      var program = FakeProgram()
      program.isMissing = true
      return program
    }

    /// Adds a step: it writes to its standard output. End lines with `\n`.
    public func output(_ text: String) -> FakeProgram { adding(.output(Data(text.utf8))) }

    /// Adds a step: it writes these bytes to its standard output.
    public func output(_ data: Data) -> FakeProgram { adding(.output(data)) }

    /// Adds a step: it writes to its standard error.
    public func errorOutput(_ text: String) -> FakeProgram { adding(.errorOutput(Data(text.utf8))) }

    /// Adds a step: it waits for `duration`.
    public func wait(_ duration: Duration) -> FakeProgram {
      var program = self
      program.wait = wait.saturatingAdding(duration)
      return program
    }

    /// Adds a step: it exits with this status. Later steps are ignored.
    public func exit(_ status: Int32) -> FakeProgram {
      var program = adding(.end(.status(status)))
      program.hasEnd = true
      return program
    }

    /// Adds a step: a signal ends it, as in a crash: 11 for SIGSEGV.
    public func crash(signal: Int32) -> FakeProgram {
      var program = adding(.end(.signal(signal)))
      program.hasEnd = true
      return program
    }

    /// This program, but it ignores SIGTERM: a cancel must wait for the SIGKILL after
    /// `terminationGracePeriod`.
    public func ignoringTermination() -> FakeProgram {
      var program = self
      program.reaction = .goesOn
      return program
    }

    /// This program, but at SIGTERM it drops the rest of its steps, and runs the steps of `program`
    /// to their end.
    ///
    /// ```swift
    /// let tidy = FakeProgram.hanging.onTermination(FakeProgram().wait(.seconds(1)).exit(1))
    /// ```
    ///
    /// It ignores a second SIGTERM.
    public func onTermination(_ program: FakeProgram) -> FakeProgram {
      var result = self
      result.reaction = .changes(to: program)
      return result
    }

    private func adding(_ event: Event) -> FakeProgram {
      var program = self
      guard !hasEnd else { return program }
      program.played.append(.init(wait: wait, event: event))
      program.wait = .zero
      return program
    }

    /// All steps, with the end.
    var steps: [Playback<Event>.Step] {
      hasEnd ? played : played + [.init(wait: wait, event: .end(.status(0)))]
    }
  }
#endif
