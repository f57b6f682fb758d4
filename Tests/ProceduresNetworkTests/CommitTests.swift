import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Calls `atEnd` before it makes something of the body.
private final class CommittingSink: BodySink {
  let events: Recorder<String>
  let atEnd: () throws -> Void

  init(_ events: Recorder<String>, atEnd: @escaping () throws -> Void) {
    self.events = events
    self.atEnd = atEnd
  }

  func begin(_ response: HTTPURLResponse) { events.note("begin") }
  func receive(_ piece: Data) {}

  func end() throws -> String {
    events.note("end")
    try atEnd()
    return "made"
  }

  func discard(after error: any Error) { events.note("discard") }
}

/// Throws when the gate is open.
private final class ThrowingSink: BodySink {
  private let entered: Gate
  private let gate: Gate

  init(_ entered: Gate, _ gate: Gate) { (self.entered, self.gate) = (entered, gate) }

  func begin(_ response: HTTPURLResponse) {}
  func receive(_ piece: Data) throws {
    entered.open()
    gate.block()
    throw TestError("piece")
  }
  func end() {}
  func discard(after error: any Error) {}
}

@Suite("The end of a transfer, and a cancel", .hangLimit)
struct CommitTests {
  private let queue = ProcedureQueue(name: "network")
  private let session = URLSession(configuration: .patient)

  private func server() throws -> LoopbackServer {
    try LoopbackServer { _, connection in connection.send(body: "new") }
  }

  private func stream(
    _ server: LoopbackServer, _ events: Recorder<String>,
    atEnd: @escaping @Sendable (Procedure) throws -> Void
  ) -> NetworkStreamProcedure<String> {
    let slot = Slot<Procedure>()
    let stream = NetworkStreamProcedure(session: session, url: server.url("/")) {
      CommittingSink(events) { if let procedure = slot.value { try atEnd(procedure) } }
    }
    slot.value = stream
    return stream
  }

  @Test("I4: a cancel or a finish that comes while a sink ends is late, and changes nothing")
  func late() async throws {
    let server = try server()
    defer { server.stop() }
    let events = Recorder<String>()
    let stream = stream(server, events) { procedure in
      #expect(!procedure.cancel(withErrors: [TestError()]))
      #expect(!procedure.finish(withErrors: [TestError()]))
      #expect(!procedure.isCancelled && procedure.isExecuting)
    }
    queue.add(stream)
    #expect(try await stream.value.payload == "made")
    #expect(stream.outcome == .succeeded && stream.errors.isEmpty)
    #expect(events.events == ["begin", "end"])
  }

  @Test("I4: a sink that cannot end fails the transfer, although a cancel came meanwhile")
  func failing() async throws {
    let server = try server()
    defer { server.stop() }
    let events = Recorder<String>()
    let stream = stream(server, events) { procedure in
      procedure.cancel()
      throw TestError("full")
    }
    queue.add(stream)
    #expect(await stream.waitUntilFinished() == .failed([TestError("full")]))
    #expect(events.events == ["begin", "end", "discard"])
  }

  @Test("I4: a token that is cancelled while a sink ends comes late as well")
  func token() async throws {
    let server = try server()
    defer { server.stop() }
    let events = Recorder<String>()
    let (source, session) = (CancellationTokenSource(), session)
    let stream = NetworkStreamProcedure(session: session, url: server.url("/")) {
      CommittingSink(events) { source.cancel() }
    }
    queue.add(stream, cancelledBy: source.token)
    #expect(await stream.waitUntilFinished() == .succeeded)
    #expect(source.isCancelled && events.events == ["begin", "end"])
  }

  @Test("I4: a cancel of a retry, or of a wrapper, that comes while a sink ends is late as well")
  func wrapped() async throws {
    let server = try server()
    defer { server.stop() }
    let (events, whole, session) = (Recorder<String>(), Slot<Procedure>(), session)
    let retry = NetworkProcedure {
      ComposedProcedure(
        NetworkStreamProcedure(session: session, url: server.url("/")) {
          CommittingSink(events) {
            #expect(whole.value?.cancel(withErrors: [TestError()]) == false)
          }
        })
    }
    whole.value = retry
    queue.add(retry)
    #expect(await retry.waitUntilFinished() == .succeeded)
    #expect(!retry.isCancelled && retry.count == 1)
    #expect(try retry.output?.get().payload == "made" && events.events == ["begin", "end"])
    whole.value = nil
  }

  @Test("I4, C5: a retry that gets another child while its attempt commits can be cancelled")
  func anotherChild() async throws {
    let server = try server()
    defer { server.stop() }
    for endsFirst in [true, false] {
      let (events, whole, session) = (Recorder<String>(), Slot<NetworkRetry>(), session)
      let other = LastingProcedure(.seconds(1_000_000))
      let retry = NetworkRetry {
        NetworkStreamProcedure(session: session, url: server.url("/")) {
          CommittingSink(events) {
            whole.value?.add(child: other)
            if !endsFirst { #expect(whole.value?.cancel(withErrors: []) == true) }
          }
        }
      }
      whole.value = retry
      queue.add(retry)
      if endsFirst {
        #expect(await eventually { retry.current?.isFinished == true })
        #expect(retry.cancel(withErrors: []))
      }
      #expect(await retry.waitUntilFinished() == .cancelled([]))
      // What was committed has succeeded.
      #expect(retry.current?.outcome == .succeeded && events.events == ["begin", "end"])
      #expect(other.isCancelled)
      whole.value = nil
    }
  }

  private typealias NetworkRetry = NetworkProcedure<NetworkStreamProcedure<String>>

  @Test("I4: after a cancel that came too late for an attempt, which failed, there is no other")
  func noFurtherAttempt() async throws {
    let server = try server()
    defer { server.stop() }
    var resilience = NetworkResilience()
    (resilience.backoffStrategy, resilience.retriesAfter) = (.immediate, { _ in true })
    for isCancelled in [true, false] {
      let (events, whole, session) = (Recorder<String>(), Slot<Procedure>(), session)
      let retry = NetworkProcedure(resilience: resilience) {
        NetworkStreamProcedure(session: session, url: server.url("/")) {
          CommittingSink(events) {
            if isCancelled { whole.value?.cancel() }
            throw TestError("full")
          }
        }
      }
      whole.value = retry
      queue.add(retry)
      #expect(await retry.waitUntilFinished() == .failed([TestError("full")]))
      #expect(retry.count == (isCancelled ? 1 : 3))
      whole.value = nil
    }
  }

  @Test("I4: a sink that throws while the procedure is cancelled: one transfer ends, once")
  func throwsWhileCancelled() async throws {
    let end = Slot<Gate>()
    let server = try LoopbackServer { _, connection in
      connection.sendHead(length: 2_000)
      connection.send(Data(count: 1_000))
      end.value?.block()
      connection.send(Data(count: 1_000))
    }
    defer { server.stop() }
    for round in 0..<(Rounds.isStress ? 3_000 : 150) {
      let (entered, gate) = (Gate(), Gate())
      end.value = gate
      let stream = NetworkStreamProcedure(session: session, url: server.url("/")) {
        ThrowingSink(entered, gate)
      }
      queue.add(stream)
      await entered.wait()
      // The rest comes, the sink throws, and the cancel comes, in about the same microseconds.
      gate.open()
      for _ in 0..<(round % 20 * 50) { _ = stream.isCancelled }
      stream.cancel()
      let outcome = await stream.waitUntilFinished()
      #expect(outcome == .cancelled([]) || outcome == .failed([TestError("piece")]))
    }
  }

  @Test(
    "I4: a download that is cancelled at any moment is there and succeeded, or nothing of it stays")
  func anyMoment() async throws {
    let sent = Slot<Gate>()
    let server = try LoopbackServer { _, connection in
      connection.send(body: "new")
      sent.value?.open()
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    var spins = 0
    for round in 0..<(Rounds.isStress ? 300 : 100) {
      let gate = Gate()
      sent.value = gate
      let resumes = round % 2 == 0
      let file = directory.url.appending(path: "\(round)")
      try Data("old".utf8).write(to: file)
      let (session, url) = (session, server.url("/"))
      let make: @Sendable () -> NetworkDownloadProcedure = {
        NetworkDownloadProcedure(session: session, url: url, to: file, resuming: resumes)
      }
      let download = round % 4 < 2 ? make() as Procedure : NetworkProcedure(body: make)
      queue.add(download)
      await gate.wait()
      // Later, if it was too early before, and earlier otherwise: so most come at the end. A few
      // milliseconds at most.
      for _ in 0..<spins { sent.value = gate }
      download.cancel()
      let outcome = await download.waitUntilFinished()
      let text = try String(contentsOf: file, encoding: .utf8)
      if outcome == .succeeded {
        spins = spins * 3 / 4
        #expect(text == "new")
      } else {
        spins = min(spins + spins / 4 + 10, 100_000)
        #expect(outcome == .cancelled([]) && text == "old")
      }
      let stays = resumes && outcome != .succeeded ? ["\(round)", "\(round).part"] : ["\(round)"]
      #expect(directory.names.allSatisfy { name in stays.contains { name.hasPrefix($0) } })
      for name in directory.names {
        try FileManager.default.removeItem(at: directory.url.appending(path: name))
      }
    }
  }
}
