internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

/// The programs that run now, for what concerns them all at once.
final class RunningPrograms: Sendable {
  private let state = Locked(State())

  private struct State {
    var programs: Set<ProcessProcedure> = []
    var isKilling = false
  }

  /// Called before it is added to a queue.
  func watch(_ program: ProcessProcedure) {
    program.addWillExecuteBlockObserver { [self] program, _ in
      state.withLock { _ = $0.programs.insert(program) }
    }
    program.addDidExecuteBlockObserver { [self] program in
      if state.withLock({ $0.isKilling }) { Self.kill(program) }
    }
    program.addDidFinishBlockObserver { [self] program, _ in
      // Released by the caller, without the lock.
      _ = state.withLock { $0.programs.remove(program) }
    }
  }

  /// SIGKILL instead of waiting for the grace period of a cancel.
  func kill() {
    let programs = state.withLock { state in
      state.isKilling = true
      return state.programs
    }
    for program in programs { Self.kill(program) }
  }

  func send(signal: Int32) {
    for program in state.withLock({ $0.programs }) { program.send(signal: signal) }
  }

  private static func kill(_ program: ProcessProcedure) {
    if let program = program as? LaunchedProgram { program.killAll() } else { program.kill() }
  }
}
