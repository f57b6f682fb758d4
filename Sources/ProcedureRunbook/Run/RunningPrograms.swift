internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

/// The running programs, for signals to all of them.
final class RunningPrograms: Sendable {
  private let state = Locked(State())

  private struct State {
    var programs: Set<ProcessProcedure> = []
    var isKilling = false
  }

  /// Call it before the program is added to a queue.
  func watch(_ program: ProcessProcedure) {
    program.addWillExecuteBlockObserver { [self] program, _ in
      state.withLock { _ = $0.programs.insert(program) }
    }
    program.addDidExecuteBlockObserver { [self] program in
      if state.withLock({ $0.isKilling }) { Self.kill(program) }
    }
    program.addDidFinishBlockObserver { [self] program, _ in
      // The program is released by this thread, without the lock.
      _ = state.withLock { $0.programs.remove(program) }
    }
  }

  /// Sends SIGKILL instead of waiting for the grace period of a cancel.
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
