#if os(macOS) || os(Linux)
  @testable import ProceduresProcess

  /// A suite that starts programs without a procedure around them.
  protocol RunsPrograms {}

  extension RunsPrograms {
    /// The shell, with a script to run.
    func shell(_ script: String) -> ProcessConfiguration {
      ProcessConfiguration(program: "/bin/sh", arguments: ["-c", script])
    }

    /// Runs a program to its end.
    func run(_ configuration: ProcessConfiguration) async -> Result<ProcessResult, ProcessError> {
      await withCheckedContinuation { continuation in
        ChildProcess(configuration) { continuation.resume(returning: $0) }.start()
      }
    }
  }
#endif
