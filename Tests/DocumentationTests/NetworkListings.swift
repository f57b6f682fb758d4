import Foundation
import ProceduresFakes
import ProceduresNetwork
import ProceduresTesting
import ProcedureTestSupport
import Testing

// listing: network-release
nonisolated struct Release: Codable, Sendable {
  let name: String
  let size: Int
}
// end

// listing: network-sink
nonisolated final class ByteSum: BodySink {
  private var sum: UInt8 = 0

  func begin(_ response: HTTPURLResponse) { sum = 0 }
  func receive(_ piece: Data) { sum = piece.reduce(sum, &+) }
  func end() -> UInt8 { sum }
  func discard(after error: any Error) {}
}
// end

@Suite("Listings of the guide Network", .hangLimit)
struct NetworkListings {
  private let queue = ProcedureQueue()
  private let output = Recorder<String>()

  private func print(_ line: String) { output.note(line) }

  private func serving(_ body: String) throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      connection.send(body: request.method == "GET" ? body : "\(request.body.count)")
    }
  }

  @Test func fetching() async throws {
    let server = try serving(#"[{"name": "a", "size": 1}, {"name": "b", "size": 2}]"#)
    defer { server.stop() }
    let url = server.url("/releases")
    // listing: network-fetch
    let fetch = NetworkProcedure { NetworkDataProcedure(url: url) }
    let decode = DecodeJSONProcedure([Release].self).injectPayload(fromNetwork: fetch)
    queue.add(fetch, decode)
    for release in try await decode.value { print("\(release.name): \(release.size) bytes") }
    // end
    #expect(output.events == ["a: 1 bytes", "b: 2 bytes"])
  }

  @Test func downloading() async throws {
    let server = try serving("what is large")
    defer { server.stop() }
    let url = server.url("/archive")
    let archive = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    defer { try? FileManager.default.removeItem(at: archive) }
    // listing: network-download
    let download = NetworkDownloadProcedure(url: url, to: archive)
    let updates = download.progressUpdates
    queue.add(download)
    for await fraction in updates { print("\(Int(fraction * 100)) %") }
    let size = try await Data(contentsOf: download.value.payload).count
    // end
    #expect(size == 13 && output.events.last == "100 %")
  }

  @Test func goingOn() async throws {
    let server = try serving("what is large")
    defer { server.stop() }
    let (url, resilience) = (server.url("/archive"), NetworkResilience())
    let archive = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    defer { try? FileManager.default.removeItem(at: archive) }
    // listing: network-resuming
    let download = NetworkProcedure(resilience: resilience) {
      NetworkDownloadProcedure(url: url, to: archive, resuming: true)
    }
    queue.add(download)
    // end
    #expect(try await Data(contentsOf: download.value.payload).count == 13)
    // listing: network-stream
    let sum = NetworkStreamProcedure(url: url) { ByteSum() }
    queue.add(sum)
    print("sum: \(try await sum.value.payload)")
    // end
    #expect(output.events == ["sum: \("what is large".utf8.reduce(UInt8(0), &+))"])
  }

  @Test func uploading() async throws {
    let server = try serving("")
    defer { server.stop() }
    let url = server.url("/orders")
    // listing: network-upload
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let encode = EncodeJSONProcedure(Release(name: "a", size: 1))
    let send = NetworkUploadProcedure().injectPayload(from: encode, into: request)
    queue.add(encode, send)
    let answer = try await send.value
    print("\(answer.statusCode), \(answer.payload.count) bytes")
    // end
    #expect(output.events == ["200, 2 bytes"])
  }

  @Test func requests() async throws {
    let server = try serving("page")
    defer { server.stop() }
    let url = server.url("/page")
    // listing: network-request
    let request = ResultProcedure {
      var request = URLRequest(url: url)
      request.setValue("Bearer abc", forHTTPHeaderField: "Authorization")
      return request
    }
    let fetch = NetworkProcedure { NetworkDataProcedure() }
    fetch.injectResult(from: request)
    queue.add(request, fetch)
    // end
    #expect(try await fetch.value.payload == Data("page".utf8))
  }

  @Test func resilience() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(status: "503 Busy", body: "later", header: "Retry-After: 3600")
    }
    defer { server.stop() }
    let url = server.url("/status")
    // listing: network-resilience
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = 5
    resilience.backoffStrategy = .exponential(period: .milliseconds(200)).jittered()
    resilience.requestTimeout = .seconds(10)
    resilience.deadline = .seconds(60)
    let fetch = NetworkProcedure(resilience: resilience) { NetworkDataProcedure(url: url) }
    // end
    // listing: network-conditions
    let host = ExclusionCategory(named: url.host() ?? "")
    resilience.conditions = [AtMost(6, of: host), RateLimit(10, per: .seconds(1), of: host)]
    // end
    // listing: network-errors
    do {
      let response = try await queue.value(of: fetch)
      print("\(response.payload.count) bytes")
    } catch let error as NetworkError {
      print("status \(error.statusCode ?? 0): \(String(decoding: error.body, as: UTF8.self))")
    } catch let error as URLError {
      print("no answer: \(error.code)")
    } catch ProcedureError.Code.timedOut {
      print("not within a minute")
    }
    // end
    #expect(output.events == ["status 503: later"])
  }

  @Test func testing() throws {
    let url = URL(string: "https://api.example/releases")!
    let fetch = NetworkProcedure { NetworkDataProcedure(url: url) }
    // listing: network-test
    let server = FakeServer(.status(429, header: ["Retry-After": "30"]), .text("[]"))
    let simulation = ProcedureSimulation(seed: 1)
    try simulation.run { simulation in
      let queue = simulation.makeQueue()
      queue.replaceNetwork(with: server)
      queue.add(fetch)
    }
    print("\(server.requests.count) requests in \(simulation.elapsed)")
    // end
    #expect(output.events == ["2 requests in 30.0 seconds"])
  }
}
