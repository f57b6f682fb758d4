import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Orders and files that a server cuts, answers twice, redirects and lies about.
@Suite("A bad server", .hangLimit)
struct BadServerTests {
  /// What arrived where it counts: the number of each order, and how long its body was.
  private final class Ledger: Sendable {
    let arrivals = Recorder<String>()
    /// Of the orders whose answer was complete.
    let answered = Recorder<String>()
  }

  /// Orders go to `/order/N/METHOD`; N says how the server treats it. What it takes is noted before
  /// any answer.
  private static func server(_ ledger: Ledger) throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      let words = request.path.split(separator: "/").map(String.init)
      guard words.count == 3, let number = Int(words[1]) else {
        return connection.send(body: "open")
      }
      let order = "\(number) \(request.method) \(request.body.count)"
      if words[0] == "moved" {
        ledger.arrivals.note(order)
        ledger.answered.note(order)
        return connection.send(body: order)
      }
      switch number % 6 {
      case 0:
        // It keeps the connection, and closes it at the next request.
        ledger.arrivals.note(order)
        connection.end()
      case 1:
        ledger.arrivals.note(order)
        connection.reset()
      case 2:
        // Half of an answer.
        ledger.arrivals.note(order)
        connection.sendHead(length: 100)
        connection.send(Data(count: 50))
        connection.end()
      case 3:
        connection.send(status: "307 Moved", body: "moved", header: "Location: /moved/\(number)/x")
      case 4:
        // Another answer, for which nobody asked, on the same connection.
        ledger.arrivals.note(order)
        ledger.answered.note(order)
        connection.send(body: order)
        connection.send(body: "answered twice")
      default:
        ledger.arrivals.note(order)
        ledger.answered.note(order)
        connection.send(body: order)
      }
    }
  }

  @Test(
    "I4: no order to a server that cuts, repeats, redirects and lies is lost or doubled"
  )
  func orders() async throws {
    let ledger = Ledger()
    let server = try Self.server(ledger)
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data(repeating: 1, count: 70_000).write(to: file)
    let session = URLSession(configuration: .patient)
    let queue = ProcedureQueue(name: "orders")
    // Each way to treat an order meets each method, size and kind of connection four times.
    let count = Rounds.isStress ? 1_200 : 360
    let number = Counter()
    let succeeded = Recorder<String>()
    await withTaskGroup(of: Void.self) { lanes in
      for _ in 0..<6 {
        lanes.addTask {
          while true {
            let number = number.increment()
            guard number <= count else { return }
            // A connection that is used again, if anything uses it.
            if number % 5 == 0 {
              _ = await queue.run(NetworkDataProcedure(session: session, url: server.url("/")))
            }
            let method = ["POST", "PUT", "PATCH"][number / 6 % 3]
            var request = URLRequest(url: server.url("/order/\(number)/x"))
            request.httpMethod = method
            let body: UploadBody = number % 2 == 0 ? .data(Data(count: 100)) : .file(file)
            let send = NetworkUploadProcedure(session: session, request: request, body: body)
            queue.add(send)
            let outcome = await send.waitUntilFinished()
            if case .success(let response)? = send.output {
              succeeded.note(String(decoding: response.payload, as: UTF8.self))
            }
            #expect(outcome.isSuccess == (number % 6 >= 3), "order \(number): \(outcome)")
          }
        }
      }
    }
    let arrivals = ledger.arrivals.events
    let expected = (1...count).map { number in
      "\(number) \(["POST", "PUT", "PATCH"][number / 6 % 3]) \(number % 2 == 0 ? 100 : 70_000)"
    }
    #expect(arrivals.count == count && Set(arrivals) == Set(expected))
    #expect(succeeded.events.sorted() == ledger.answered.events.sorted())
  }

  /// The file with that number: no two have a line in common.
  private static func text(_ number: Int) -> String {
    String(repeating: "file \(number) ", count: 8_000)
  }

  /// Files are at `/file/N`; N says how the server treats the first two requests for each. The
  /// third one gets it.
  private static func fileServer(_ requests: Recorder<String>) throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      guard let number = Int(request.path.split(separator: "/").last ?? "") else {
        return connection.end()
      }
      requests.note(request.path)
      let isLast = requests.events.count { $0 == request.path } > 2
      let whole = Data(Self.text(number).utf8)
      let start = request.header["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
      let tag = "ETag: \"\(number)\""
      if request.path.hasPrefix("/file/"), number % 8 == 2 {
        return connection.send(status: "302 Found", body: "no", header: "Location: /new/\(number)")
      }
      switch isLast ? 7 : number % 8 {
      case 0:
        connection.sendHead(length: whole.count, [tag])
        connection.send(whole.prefix(50_000))
        connection.end()
      case 1:
        connection.sendHead(length: whole.count, [tag])
        connection.send(whole.prefix(10))
        connection.reset()
      case 3:
        // More than there is.
        connection.sendHead(length: whole.count * 2, [tag])
        connection.send(whole)
        connection.end()
      case 4: connection.end()
      case 5:
        // Another part than that which was asked for.
        connection.sendHead(
          status: "206 Part", length: 5, [tag, "Content-Range: bytes 7-11/\(whole.count)"])
        connection.send(Data("other".utf8))
      case 6:
        connection.send(status: "503 Later", body: "later", header: "Retry-After: 0")
      default:
        let range = "Content-Range: bytes \(start)-\(whole.count - 1)/\(whole.count)"
        let isPart = start > 0 && request.header["if-range"] == "\"\(number)\""
        connection.sendHead(
          status: isPart ? "206 Part" : "200 OK", length: whole.count - (isPart ? start : 0),
          isPart ? [tag, range] : [tag])
        connection.send(isPart ? whole.dropFirst(start) : whole)
      }
    }
  }

  @Test("I4: each download from a server that cuts, resets and lies comes whole")
  func downloads() async throws {
    let server = try Self.fileServer(Recorder<String>())
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let session = URLSession(configuration: .patient)
    let queue = ProcedureQueue(name: "downloads")
    var resilience = NetworkResilience()
    (resilience.maximumNumberOfAttempts, resilience.backoffStrategy) = (4, .immediate)
    // A part that nobody asked for.
    resilience.retriedStatusCodes.insert(206)
    // Each way to treat a request meets each manner of downloading eight times.
    let count = Rounds.isStress ? 400 : 128
    let number = Counter()
    await withTaskGroup(of: Void.self) { lanes in
      for _ in 0..<6 {
        lanes.addTask { [resilience] in
          while true {
            let number = number.increment()
            guard number <= count else { return }
            let file = directory.url.appending(path: "\(number)")
            // Half of them in each of the manners.
            let resumes = number / 8 % 2 == 0
            let download = NetworkProcedure(resilience: resilience) {
              NetworkDownloadProcedure(
                session: session, url: server.url("/file/\(number)"), to: file,
                resuming: resumes, accepting: [200])
            }
            let outcome = await queue.run(download)
            #expect(outcome == .succeeded, "file \(number): \(outcome)")
            let text = try? String(contentsOf: file, encoding: .utf8)
            #expect(text == Self.text(number), "file \(number)")
          }
        }
      }
    }
    #expect(directory.names.count == count)
  }
}
