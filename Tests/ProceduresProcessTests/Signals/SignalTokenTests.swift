import Foundation
import ProcedureTestSupport
import ProceduresProcess
import Testing

/// A shell has what it starts in the background ignore SIGINT, and what that starts.
private func useDefaultActions() {
  for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
}

/// With signals that do nothing by themselves, or in a process apart.
@Suite(.serialized, .hangLimit) struct SignalTokenTests {
  private static let harmless = ProcessSignal(number: SIGWINCH)
  private static let other = ProcessSignal(number: SIGURG)

  private func send(_ signal: ProcessSignal) { kill(getpid(), signal.number) }

  @Test("I5: a signal cancels its tokens, and those of no other signal, and is their reason")
  func cancels() async {
    let token = CancellationToken.signals(Self.harmless)
    let same = CancellationToken.signals(Self.harmless, Self.other)
    let procedure = DelayProcedure(by: .seconds(1000))
    ProcedureQueue().add(procedure, cancelledBy: token)
    send(Self.harmless)
    #expect(await token.waitUntilCancelled())
    #expect(await same.waitUntilCancelled())
    #expect(token.reason == .signal(Self.harmless.number))
    #expect(same.reason?.processSignal == Self.harmless)
    #expect(await procedure.waitUntilFinished() == .cancelled([]))
    #expect(procedure.cancellationToken.reason == .signal(Self.harmless.number))
    let again = CancellationToken.signals(Self.harmless)
    #expect(!again.isCancelled)
    send(Self.harmless)
    #expect(await again.waitUntilCancelled())
  }

  @Test("I5: a token counts until the end of its scope, and then completes uncancelled")
  func scope() async throws {
    let token = await withCancellationToken(signals: Self.harmless, Self.other) { token in
      #expect(!token.isCompleted)
      return token
    }
    #expect(token.isCompleted && !token.isCancelled)
    send(Self.harmless)
    let outer = CancellationToken.signals(Self.other)
    await withCancellationToken(signals: Self.other) { inner in
      send(Self.other)
      #expect(await inner.waitUntilCancelled())
    }
    #expect(await outer.waitUntilCancelled())
    await #expect(throws: TestError.self) {
      try await withCancellationToken(signals: Self.harmless) { _ in throw TestError() }
    }
  }

  @Test("I5: a signal knows the exit status that it stands for; another reason is no signal")
  func exitStatus() {
    #expect(ProcessSignal.interrupt.exitStatus == 130)
    #expect(ProcessSignal.terminate.exitStatus == 143)
    #expect(ProcessSignal(number: .max).exitStatus == .max)
    #expect(CancellationToken.cancelled.reason?.processSignal == nil)
  }

  @Test("I5: a signal that cannot be caught never cancels")
  func uncatchable() {
    for number in [SIGKILL, SIGSTOP, 0, -1, 1000] as [Int32] {
      #expect(!CancellationToken.signals(ProcessSignal(number: number)).isCancelled)
    }
    #expect("\(ProcessSignal.interrupt) \(ProcessSignal(number: 99))" == "SIGINT signal 99")
  }

  @Test("I5: a second signal does what it did before the token, so Ctrl-C ends what does not end")
  func second() async {
    await #expect(processExitsWith: .signal(SIGINT)) {
      useDefaultActions()
      let token = CancellationToken.signals(.interrupt, .terminate)
      kill(getpid(), SIGINT)
      guard await token.waitUntilCancelled() else { exit(1) }
      kill(getpid(), SIGINT)
      while true { pause() }
    }
    await #expect(processExitsWith: .signal(SIGTERM)) {
      useDefaultActions()
      let token = CancellationToken.signals(.interrupt, .terminate)
      kill(getpid(), SIGINT)
      guard await token.waitUntilCancelled() else { exit(1) }
      kill(getpid(), SIGTERM)
      while true { pause() }
    }
  }

  @Test("I5: output of a program is no signal, and no signal is lost, with closed standard streams")
  func closedStandardStreams() async {
    await #expect(processExitsWith: .success) {
      useDefaultActions()
      for descriptor: Int32 in 0...2 { close(descriptor) }
      let token = CancellationToken.signals(.interrupt)
      var (line, byte): (UInt8, UInt8) = (UInt8(SIGTERM), 0)
      for descriptor: Int32 in 0...2 {
        _ = unsafe write(descriptor, &line, 1)
        _ = unsafe read(descriptor, &byte, 1)
      }
      kill(getpid(), SIGINT)
      exit(await token.waitUntilCancelled() ? 0 : 1)
    }
  }

  @Test(
    "I5: after a scope a signal ends the program as before, and a handler of the program's is back")
  func restored() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      useDefaultActions()
      await withCancellationToken(signals: .terminate) { _ in }
      kill(getpid(), SIGTERM)
      while true { pause() }
    }
    await #expect(processExitsWith: .exitCode(7)) {
      signal(SIGUSR1) { _ in _exit(7) }
      let token = CancellationToken.signals(.user1)
      kill(getpid(), SIGUSR1)
      guard await token.waitUntilCancelled() else { exit(1) }
      kill(getpid(), SIGUSR1)
      while true { pause() }
    }
  }

  @Test("I5: a handler that blocks does not keep a second signal from ending the program")
  func blockingHandler() async {
    await #expect(processExitsWith: .signal(SIGINT)) {
      useDefaultActions()
      let token = CancellationToken.signals(.interrupt)
      token.onCancel {
        kill(getpid(), SIGINT)
        while true { pause() }
      }
      kill(getpid(), SIGINT)
      while true { pause() }
    }
  }

  @Test("I5: SIGHUP that is ignored, as under nohup, stays so")
  func nohup() async {
    await #expect(processExitsWith: .exitCode(3)) {
      signal(SIGHUP, SIG_IGN)
      let token = CancellationToken.signals(.hangup)
      kill(getpid(), SIGHUP)
      exit(token.isCancelled ? 1 : 3)
    }
  }

  @Test("I5: a signal is seen though every thread of Dispatch's global queue is held")
  func busyPool() async {
    await #expect(processExitsWith: .exitCode(5)) {
      let token = CancellationToken.signals(.terminate)
      for _ in 0..<600 { DispatchQueue.global().async { while true { pause() } } }
      kill(getpid(), SIGTERM)
      while !token.isCancelled { sched_yield() }
      exit(5)
    }
  }

  @Test("I5: scopes that come and go while signals arrive lose none and leave none")
  func races() async {
    for _ in 0..<Rounds.few {
      let token = CancellationToken.signals(Self.harmless)
      await race(
        { kill(getpid(), SIGWINCH) },
        { _ = CancellationToken.signals(Self.other) })
      #expect(await token.waitUntilCancelled())
      await withCancellationToken(signals: Self.harmless) { _ in send(Self.harmless) }
    }
    send(Self.other)
  }
}
