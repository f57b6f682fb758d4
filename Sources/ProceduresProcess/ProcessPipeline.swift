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

  /// Runs programs at the same time, each of which reads what the one before writes.
  ///
  /// ```swift
  /// let sorted = ProcessProcedure("ls", arguments: ["-1"]) | ProcessProcedure("sort")
  /// queue.add(sorted)
  /// print(try await sorted.value.outputText)
  /// ```
  ///
  /// A group whose children are the programs. Between two of them is a pipe of the system: the data
  /// in it is not in our memory, and a fast writer waits for a slow reader. Its input is the
  /// standard input of the first, its output the result of the last; the standard error of each is
  /// its own.
  ///
  /// It **succeeds** when all programs do. A program that is ended by SIGPIPE, since the next one
  /// does not read on, has succeeded. When one fails the rest is cancelled, unless `failurePolicy`
  /// says otherwise. **Cancelling** ends them all. All must run at the same time: leave
  /// `maxConcurrentChildCount` as it is. It holds one slot of its queue. A program for which the
  /// system has no process or descriptor left fails after two seconds, since the others may wait
  /// for it.
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

    private func consist(of stages: [ProcessProcedure]) {
      failurePolicy = .cancelRemaining
      for stage in stages { append(stage) }
    }

    /// The programs, from the first to the last.
    public final var stages: [ProcessProcedure] { members.withLock { $0 } }

    /// Adds a program that reads what the last one writes; before the pipeline is on a queue.
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
  }

  extension ProcessProcedure {
    /// Has a program read what another one writes. See `ProcessPipeline`.
    public static func | (writer: ProcessProcedure, reader: ProcessProcedure) -> ProcessPipeline {
      ProcessPipeline([writer, reader])
    }

    final func connect(writingTo pipe: ProcessPipe) {
      change { $0.outputPipe = pipe }
      // Also if it never starts.
      addDidFinishBlockObserver { _, _ in pipe.close(.writing) }
    }

    final func connect(readingFrom pipe: ProcessPipe) {
      change { $0.inputPipe = pipe }
      addDidFinishBlockObserver { _, _ in pipe.close(.reading) }
    }
  }

  extension ProcessPipeline {
    /// Has one more program read what the last one writes, and returns the pipeline.
    public static func | (pipeline: ProcessPipeline, reader: ProcessProcedure) -> ProcessPipeline {
      pipeline.append(reader)
      return pipeline
    }
  }
#endif
