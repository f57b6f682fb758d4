import Foundation
import Procedures
import ProceduresFoundation

/// The programs that run now, for what concerns them all at once.
final class RunningPrograms: @unchecked Sendable {
  private let lock = NSLock()
  private var programs: Set<ProcessProcedure> = []
  private var isKilling = false

  /// Called before it is added to a queue.
  func watch(_ program: ProcessProcedure) {
    program.addWillExecuteBlockObserver { [self] program, _ in
      lock.withLock { _ = programs.insert(program) }
    }
    program.addDidExecuteBlockObserver { [self] program in
      if lock.withLock({ isKilling }) { program.kill() }
    }
    program.addDidFinishBlockObserver { [self] program, _ in
      lock.withLock { _ = programs.remove(program) }
    }
  }

  /// SIGKILL instead of waiting for the grace period of a cancel.
  func kill() {
    let programs = lock.withLock {
      isKilling = true
      return self.programs
    }
    for program in programs { program.kill() }
  }

  func send(signal: Int32) {
    for program in lock.withLock({ programs }) { program.send(signal: signal) }
  }
}
