import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A sink that takes its time, or uses the network itself.
@Suite("Sinks", .hangLimit)
struct SlowSinkTests {
  private let queue = ProcedureQueue(name: "sinks")

  /// Calls a closure with each piece.
  private final class ClosureSink: BodySink {
    private let take: (Data) throws -> Void
    private var count = 0

    init(_ take: @escaping (Data) throws -> Void) { self.take = take }

    func begin(_ response: HTTPURLResponse) {}
    func receive(_ piece: Data) throws {
      count += piece.count
      try take(piece)
    }
    func end() -> Int { count }
    func discard(after error: any Error) {}
  }

  /// A server that answers, but not at `/silence`.
  private static func makeServer() throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      if request.path == "/silence" {
        connection.waitForEnd()
      } else {
        connection.send(body: "text")
      }
    }
  }

  /// While sinks wait, another transfer ends, and another one is cancelled.
  private static func expectNothingHeld(
    on queue: ProcedureQueue, _ session: URLSession, _ server: LoopbackServer
  ) async throws {
    let quick = NetworkDataProcedure(session: session, url: server.url("/quick"))
    let victim = NetworkDataProcedure(session: session, url: server.url("/silence"))
    queue.add(quick, victim)
    #expect(try await quick.value.payload.count == 4)
    victim.cancel()
    #expect(await victim.waitUntilFinished() == .cancelled([]))
  }

  @Test("I4: a sink that waits holds up no other transfer of the process, and no cancel of one")
  func others() async throws {
    let server = try Self.makeServer()
    defer { server.stop() }
    let (entered, gate) = (Gate(), Gate())
    let slow = NetworkStreamProcedure(url: server.url("/slow")) {
      ClosureSink { _ in
        entered.open()
        gate.block()
      }
    }
    queue.add(slow)
    await entered.wait()
    for session in [URLSession.shared, URLSession(configuration: .patient)] {
      try await Self.expectNothingHeld(on: queue, session, server)
    }
    gate.open()
    #expect(try await slow.value.payload == 4)
  }

  @Test("I4: more sinks that wait than there are threads hold up no transfer without such a sink")
  func manyWaiting() async {
    // In a process of its own, since they take all the threads that there are for sinks.
    await #expect(processExitsWith: .success) {
      let server = try Self.makeServer()
      let (queue, gate, entered) = (ProcedureQueue(), Gate(), Counter())
      let configuration = URLSessionConfiguration.patient
      configuration.httpMaximumConnectionsPerHost = 1_000
      let session = URLSession(configuration: configuration)
      let slow = (0..<200).map { _ in
        NetworkStreamProcedure(session: session, url: server.url("/slow")) {
          ClosureSink { _ in
            entered.increment()
            gate.block()
          }
        }
      }
      queue.add(slow)
      #expect(await eventually { entered.value >= SinkLine.threadCount })
      try await Self.expectNothingHeld(on: queue, session, server)
      gate.open()
      for stream in slow { #expect(try await stream.value.payload == 4) }
    }
  }

  @Test("I4: a sink may use the network, and a session")
  func forwarding() async throws {
    let notes = Recorder<String>()
    let server = try LoopbackServer { request, connection in
      notes.note("\(request.method) \(request.body.count)")
      connection.send(body: "text")
    }
    defer { server.stop() }
    var request = URLRequest(url: server.url("/"))
    request.httpMethod = "POST"
    let forward = request
    let other = ProcedureQueue()
    let done = Gate()
    let procedure = NetworkStreamProcedure(url: server.url("/")) {
      ClosureSink { piece in
        let session = URLSession(configuration: .patient)
        let send = NetworkUploadProcedure(session: session, request: forward, body: .data(piece))
        send.addDidFinishBlockObserver { _, _ in done.open() }
        other.add(send)
        // Even to wait for it is allowed.
        done.block()
        session.uploadTask(with: forward, from: piece).resume()
      }
    }
    queue.add(procedure)
    #expect(try await procedure.value.payload == 4)
    while notes.events.count < 3 { try await Task.sleep(for: .milliseconds(2)) }
    #expect(notes.events == ["GET 0", "POST 4", "POST 4"])
  }

  @Test(
    "I4: a transfer that is cancelled while its sink takes a piece finishes when that returns, and hands over nothing more"
  )
  func cancel() async throws {
    let (entered, gate, calls, ended) = (Gate(), Gate(), Counter(), Gate())
    let server = try LoopbackServer { _, connection in
      connection.sendHead(length: 1 << 30)
      let piece = Data(count: 1 << 16)
      while connection.send(piece) {}
      ended.open()
    }
    defer { server.stop() }
    let slow = NetworkStreamProcedure(
      session: URLSession(configuration: .patient), url: server.url("/")
    ) {
      ClosureSink { _ in
        calls.increment()
        entered.open()
        gate.block()
      }
    }
    queue.add(slow)
    await entered.wait()
    slow.cancel()
    await ended.wait()
    gate.open()
    #expect(await slow.waitUntilFinished() == .cancelled([]))
    #expect(calls.value == 1)
  }

  @Test("I4: the server waits for a slow sink: no more than a buffer is on the way")
  func heldBack() async throws {
    let (sent, farthest, total) = (Counter(), Recorder<Int>(), 3_200)
    let server = try LoopbackServer { _, connection in
      let piece = Data(count: 1 << 16)
      connection.sendHead(length: total * piece.count)
      for _ in 0..<total where connection.send(piece) { sent.increment() }
    }
    defer { server.stop() }
    let taken = Counter()
    let slow = NetworkStreamProcedure(
      session: URLSession(configuration: .patient), url: server.url("/")
    ) {
      var count = 0
      return ClosureSink { piece in
        count += piece.count
        // The network is faster than this.
        for _ in 0..<60 { _ = taken.value }
        farthest.note(sent.value << 16 - count)
      }
    }
    queue.add(slow)
    #expect(try await slow.value.payload == total << 16)
    // The system's buffers of both sides are some megabytes, too.
    #expect((farthest.events.max() ?? 0) < 48 << 20)
  }

  #if canImport(FoundationNetworking)
    @Test(
      "I4: a transfer in line behind sinks that hold all connections back times out, and names them",
      arguments: ["GET", "POST"])
    func blockedLine(method: String) async throws {
      let total = 64
      let server = try LoopbackServer { request, connection in
        guard request.path == "/large" else { return connection.send(body: "text") }
        let piece = Data(count: 1 << 16)
        connection.sendHead(length: total * piece.count)
        for _ in 0..<total where connection.isOpen { connection.send(piece) }
      }
      defer { server.stop() }
      let configuration = URLSessionConfiguration.patient
      configuration.httpMaximumConnectionsPerHost = 1
      let session = URLSession(configuration: configuration)
      var request = URLRequest(url: server.url("/small"))
      (request.httpMethod, request.timeoutInterval) = (method, 0.5)
      let inner = NetworkDataProcedure(session: session, request: request)
      let other = ProcedureQueue()
      (request.url, request.timeoutInterval) = (server.url("/large"), 0)
      let outer = NetworkStreamProcedure(session: session, request: request) {
        var isFirst = true
        return ClosureSink { _ in
          guard isFirst else { return }
          isFirst = false
          other.add(inner)
          inner.blockUntilFinished()
        }
      }
      queue.add(outer)
      #expect(try await outer.value.payload == total << 16)
      let error = inner.errors.first as? URLError
      #expect(error?.code == .timedOut && server.requests.value == 1)
      let words = error?.userInfo[NSLocalizedDescriptionKey] as? String ?? ""
      #expect(
        words.contains(
          "waits for one of 1 connections, and the sinks of '\(method) 127.0.0.1/large'")
      )
    }
  #endif

  @Test("I4: a sink's line says when its buffer is full, and lets go when half of it was taken")
  func line() async throws {
    let (gate, released, ran) = (Gate(), Counter(), Counter())
    let line = SinkLine(on: .shared(.default)) { released.increment() }
    #expect(!line.add { gate.block() })
    let piece = SinkLine.limit / 4
    #expect(
      (0..<5).map { _ in line.add(size: piece) { ran.increment() } } == [
        false, false, false, true, true,
      ])
    #expect(released.value == 0)
    gate.open()
    let end = Gate()
    _ = line.add { end.open() }
    await end.wait()
    #expect(ran.value == 5 && released.value == 1)
  }

  #if canImport(FoundationNetworking)
    @Test("I4: the handle by which a connection is held back is where Foundation keeps it")
    func handle() async throws {
      let server = try LoopbackServer()
      defer { server.stop() }
      let task = URLSession(configuration: .patient).dataTask(with: server.url("/silence"))
      task.resume()
      await server.asked.wait()
      #expect(HeldConnection(of: task) != nil)
      task.cancel()
    }

    @Test("I4: a connection's version of HTTP is where libcurl has it")
    func version() async throws {
      let gate = Gate()
      let server = try LoopbackServer { _, connection in
        connection.sendHead(length: 4)
        connection.send(Data("te".utf8))
        gate.block()
        connection.send(Data("xt".utf8))
      }
      defer { server.stop() }
      let task = URLSession(configuration: .patient).dataTask(with: server.url("/"))
      task.resume()
      #expect(await eventually { HeldConnection(of: task)?.version == 2 })
      #expect(HeldConnection(of: task)?.isMultiplexed == false)
      gate.open()
    }
  #endif
}
