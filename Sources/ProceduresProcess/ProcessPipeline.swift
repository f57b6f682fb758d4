#if os(macOS) || os(Linux)
  internal import ProcedurePrimitives
  public import Procedures
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Runs programs at the same time, each of which reads the output of the previous one.
  ///
  /// ```swift
  /// let sorted = ProcessProcedure("ls", arguments: ["-1"]) | ProcessProcedure("sort")
  /// queue.add(sorted)
  /// print(try await sorted.value.outputText)
  /// ```
  ///
  /// It is a group whose children are the programs. Two neighbours share a pipe of the system: the
  /// data does not pass through this process, and a fast writer waits for a slow reader. Its input
  /// is the standard input of the first program, its output the result of the last; each has its
  /// own standard error.
  ///
  /// It **succeeds** when all programs do. A program that is ended by SIGPIPE, since the next one
  /// stopped reading, has succeeded. When one fails, the others are cancelled, unless you change
  /// `failurePolicy`. **Cancelling** ends them all. All must run at the same time: leave
  /// `maxConcurrentChildCount` as it is. The pipeline takes one slot of its queue. A program for
  /// which the system has no process or descriptor left fails after two seconds, since the others
  /// may wait for it.
  nonisolated open class ProcessPipeline: GroupProcedure, InputProcedure, OutputProcedure,
    @unchecked Sendable
  {
    /// The standard input of the first program.
    public typealias Input = ProcessInput
    /// The exit and the output of the last program.
    public typealias Output = ProcessResult

    private let members = Locked<[ProcessProcedure]>([])

    /// Makes a pipeline of programs that are on no queue and in no group.
    public init(_ stages: [ProcessProcedure]) {
      super.init(children: [])
      consist(of: stages)
    }

    /// Makes a pipeline of programs that are on no queue and in no group.
    public init(_ stages: ProcessProcedure...) {
      super.init(children: [])
      consist(of: stages)
    }

    deinit { input.stream?.abandon() }

    private func consist(of stages: [ProcessProcedure]) {
      failurePolicy = .cancelRemaining
      for stage in stages { append(stage) }
    }

    /// The programs, from the first to the last.
    public final var stages: [ProcessProcedure] { members.withLock { $0 } }

    /// Adds a program that reads the output of the last one. Call it before you add the pipeline to
    /// a queue.
    public final func append(_ stage: ProcessProcedure) {
      let last = members.withLock { members in
        defer { members.append(stage) }
        return members.last
      }
      if let last {
        let pipe = ProcessPipe()
        last.connect(writingTo: pipe)
        stage.connect(readingFrom: pipe)
      } else {
        bind(to: stage)
      }
      add(child: stage)
    }

    /// Starts all programs. An override calls `super.execute()`.
    open override func execute() {
      if let last = stages.last { bind(from: last) }
      super.execute()
    }

    /// An override calls `super.procedureDidFinish`.
    open override func procedureDidFinish(withErrors errors: [any Error]) {
      super.procedureDidFinish(withErrors: errors)
      // A pipeline that did not execute has not handed its input to the first program.
      input.stream?.close(ifUnclaimed: true)
    }
  }

  extension ProcessProcedure {
    /// Makes a pipeline in which `reader` reads the output of `writer`. See `ProcessPipeline`.
    public static func | (writer: ProcessProcedure, reader: ProcessProcedure) -> ProcessPipeline {
      ProcessPipeline([writer, reader])
    }

    final func connect(writingTo pipe: ProcessPipe) {
      change { $0.outputPipe = pipe }
      // Observe the finish, since the program may never start.
      addDidFinishBlockObserver { _, _ in pipe.close(.writing) }
    }

    final func connect(readingFrom pipe: ProcessPipe) {
      change { $0.inputPipe = pipe }
      addDidFinishBlockObserver { _, _ in pipe.close(.reading) }
    }
  }

  extension ProcessPipeline {
    /// Adds a program that reads the output of the last one, and returns the pipeline.
    public static func | (pipeline: ProcessPipeline, reader: ProcessProcedure) -> ProcessPipeline {
      pipeline.append(reader)
      return pipeline
    }
  }
#endif
