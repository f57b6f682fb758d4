import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Downloads and uploads", .hangLimit)
struct DownloadTests {
  private let queue = ProcedureQueue(name: "network")
  private let session = URLSession(configuration: .patient)

  @Test("I4: a body goes to a file, which replaces what was there in one step")
  func download() async throws {
    let body = Data.pattern(3_000_000)
    let server = try LoopbackServer { _, connection in
      connection.sendHead(length: body.count)
      connection.send(body)
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data("before".utf8).write(to: file)
    let download = NetworkDownloadProcedure(session: session, url: server.url("/"), to: file)
    let size = TransformProcedure<URL, Int> { try Data(contentsOf: $0).count }
      .injectPayload(fromNetwork: download)
    queue.add(download, size)
    #expect(try await size.value == 3_000_000)
    #expect(try await download.value.payload == file)
    #expect(try Data(contentsOf: file) == body && directory.names == ["file"])
    // Without a destination it is a new file each time.
    let (first, second) = (
      NetworkDownloadProcedure(session: session, url: server.url("/")),
      NetworkDownloadProcedure(session: session, url: server.url("/"))
    )
    queue.add(first, second)
    let files = try await [first.value.payload, second.value.payload]
    #expect(files[0] != files[1])
    for file in files {
      #expect(try Data(contentsOf: file) == body)
      try FileManager.default.removeItem(at: file)
    }
  }

  @Test("I4: two downloads never share a file, also where the process has no free descriptor")
  func namesWithoutDescriptors() async {
    await #expect(processExitsWith: .success) {
      var descriptors: [Int32] = []
      while case let descriptor = dup(0), descriptor >= 0 { descriptors.append(descriptor) }
      let url = URL(string: "http://a.example")!
      let sinks = (0..<2).map { _ in FileSink(of: URLRequest(url: url), for: nil) }
      let response = HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: nil, headerFields: nil)!
      for descriptor in descriptors { close(descriptor) }
      var files: [URL] = []
      for (number, sink) in sinks.enumerated() {
        try sink.begin(response)
        try sink.receive(Data([UInt8(number)]))
      }
      for sink in sinks { files.append(try sink.end()) }
      let contents = try files.map { try Data(contentsOf: $0) }
      for file in files { try? FileManager.default.removeItem(at: file) }
      try #require(contents == [Data([0]), Data([1])])
    }
  }

  @Test("I4: an empty body is an empty file")
  func empty() async throws {
    let server = try LoopbackServer { _, connection in connection.send() }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    let download = NetworkDownloadProcedure(session: session, url: server.url("/"), to: file)
    queue.add(download)
    #expect(try await Data(contentsOf: download.value.payload).isEmpty)
  }

  @Test(
    "I4: a response that has no body by HTTP leaves the destination as it is, with and without a file",
    arguments: ["304 Not Modified", "204 No Content", "200 OK"], [false, true])
  func bodiless(status: String, resuming: Bool) async throws {
    let isHead = status == "200 OK"
    if isHead, resuming { return }
    let server = try LoopbackServer { request, connection in
      if isHead {
        connection.sendHead(length: 4)
      } else {
        connection.send(Data("HTTP/1.1 \(status)\r\nETag: \"a\"\r\n\r\n".utf8))
      }
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    var request = URLRequest(url: server.url("/"))
    if isHead { request.httpMethod = "HEAD" }
    for content in [nil, "before"] {
      if let content { try Data(content.utf8).write(to: file) }
      let download = NetworkDownloadProcedure(
        session: session, request: request, to: file, resuming: resuming,
        accepting: [200, 204, 304])
      queue.add(download)
      #expect(try await download.value.payload == file)
      #expect((try? String(contentsOf: file, encoding: .utf8)) == content)
      #expect(directory.names == (content == nil ? [] : ["file"]))
    }
    // A temporary file is there, and empty.
    let download = NetworkDownloadProcedure(
      session: session, request: request, accepting: [200, 204, 304])
    queue.add(download)
    let temporary = try await download.value.payload
    #expect(try Data(contentsOf: temporary).isEmpty)
    try FileManager.default.removeItem(at: temporary)
  }

  @Test(
    "I4: a download that is cancelled, refused or cannot be written leaves the old file, and nothing else"
  )
  func leavesNothing() async throws {
    let begun = Gate()
    let server = try LoopbackServer { request, connection in
      switch request.path {
      case "/refused": connection.send(status: "500 No", body: "broken")
      case "/endless":
        connection.sendHead(length: 1_000_000)
        connection.send(Data(count: 100_000))
        connection.waitForEnd()
      default: connection.send(body: "whole")
      }
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data("before".utf8).write(to: file)

    let endless = NetworkDownloadProcedure(
      session: session, url: server.url("/endless"), to: file)
    let updates = endless.progressUpdates
    queue.add(endless)
    for await fraction in updates where fraction > 0 {
      #expect(directory.names.count == 2)
      begun.open()
      endless.cancel()
      break
    }
    await begun.wait()
    #expect(await endless.waitUntilFinished() == .cancelled([]))

    let refused = NetworkDownloadProcedure(
      session: session, url: server.url("/refused"), to: file)
    let outcome = await queue.run(refused)
    #expect((outcome.errors.first as? NetworkError)?.body == Data("broken".utf8))
    #expect(try String(contentsOf: file, encoding: .utf8) == "before")
    #expect(directory.names == ["file"])

    // Its place is a directory; its directory is not there.
    for place in [directory.url, directory.url.appending(path: "no/file")] {
      let download = NetworkDownloadProcedure(
        session: session, url: server.url("/"), to: place)
      let outcome = await queue.run(download)
      #expect(outcome.isFailure, "\(place)")
    }
    #expect(directory.names == ["file"])
  }

  @Test("I4: a body is sent from memory, from a file, and as JSON of what a procedure made")
  func upload() async throws {
    let body = Data.pattern(2_000_000)
    let server = try LoopbackServer { request, connection in
      let isWhole = request.body == body
      connection.send(body: "\(request.method) \(request.body.count) \(isWhole)")
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try body.write(to: file)
    for (method, content) in [("PUT", UploadBody.data(body)), ("POST", .file(file))] {
      var request = URLRequest(url: server.url("/"))
      request.httpMethod = method
      let upload = NetworkUploadProcedure(session: session, request: request, body: content)
      let updates = upload.progressUpdates
      queue.add(upload)
      var fractions: [Double] = []
      for await fraction in updates { fractions.append(fraction) }
      let text = try await String(decoding: upload.value.payload, as: UTF8.self)
      #expect(text == "\(method) 2000000 true")
      #expect(fractions.last == 1 && fractions == fractions.sorted())
    }
    var request = URLRequest(url: server.url("/"))
    request.httpMethod = "POST"
    let encode = EncodeJSONProcedure(["a": 1])
    let send = NetworkUploadProcedure(session: session).injectPayload(from: encode, into: request)
    queue.add(encode, send)
    #expect(try await String(decoding: send.value.payload, as: UTF8.self).hasPrefix("POST 7 "))
  }

  @Test("I4: an upload that is a GET or a HEAD, or whose file is missing, fails and says so")
  func impossibleUpload() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var request = URLRequest(url: server.url("/text"))
    for method in ["GET", "HEAD", "head"] {
      request.httpMethod = method
      let get = NetworkUploadProcedure(session: session, request: request, body: .data(Data([1])))
      let error = try #require(await queue.run(get).errors.first as? NetworkError)
      #expect(error.code == .bodyNotAllowed && "\(error)".contains("httpMethod"))
      #expect(NetworkError.Code.bodyNotAllowed ~= error && !(NetworkError.Code.notHTTP ~= error))
      request.httpBody = Data([1])
      let data = NetworkDataProcedure(session: session, request: request)
      #expect((await queue.run(data).errors.first as? NetworkError)?.code == .bodyNotAllowed)
      request.httpBody = nil
    }
    request.httpMethod = "PUT"
    let missing = NetworkUploadProcedure(
      session: session, request: request, body: .file(URL(filePath: "/no/such/file")))
    #expect(await queue.run(missing).isFailure)
    #expect(server.requests.value == 0)
  }

  @Test("I4: a body has its own length, whatever length the request says")
  func saidLength() async throws {
    let server = try LoopbackServer { request, connection in
      connection.send(
        body:
          "\(request.header["content-length"] ?? "") \(String(decoding: request.body, as: UTF8.self))"
      )
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data("hello".utf8).write(to: file)
    for length in ["3", "10", "5"] {
      for body in [UploadBody.data(Data("hello".utf8)), .file(file)] {
        var request = URLRequest(url: server.url("/"), timeoutInterval: 5)
        request.httpMethod = "PUT"
        request.setValue(length, forHTTPHeaderField: "content-length")
        let upload = NetworkUploadProcedure(session: session, request: request, body: body)
        queue.add(upload)
        #expect(try await String(decoding: upload.value.payload, as: UTF8.self) == "5 hello")
      }
    }
  }

  @Test("I4: a scheme is the same in upper case, also after a redirect")
  func upperCaseScheme() async throws {
    let port = Slot<Int>()
    let server = try LoopbackServer { request, connection in
      if request.path == "/old" {
        connection.send(
          status: "302 Moved", header: "Location: HTTP://127.0.0.1:\(port.value ?? 0)/new?a=%20b")
      } else {
        connection.send(body: request.path)
      }
    }
    defer { server.stop() }
    port.value = server.url("/").port
    for (path, arrived) in [("/new?a=%20b#c", "/new?a=%20b"), ("/old", "/new?a=%20b")] {
      let text = server.url(path).absoluteString
      let url = try #require(URL(string: "HTTP" + text.dropFirst(4)))
      let fetch = NetworkDataProcedure(session: session, url: url)
      queue.add(fetch)
      #expect(try await String(decoding: fetch.value.payload, as: UTF8.self) == arrived)
    }
  }

  @Test(
    "I4: a destination that is a folder, a named pipe or a socket stays, and nothing is sent",
    arguments: [false, true])
  func destinationThatIsNoFile(resuming: Bool) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let (folder, pipe) = (
      directory.url.appending(path: "folder"), directory.url.appending(path: "pipe")
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try #require(unsafe mkfifo(pipe.path, 0o600) == 0)
    for (file, kind) in [(folder, "folder"), (pipe, "named pipe")] {
      let type = file.fileType
      let download = NetworkDownloadProcedure(
        session: session, url: server.url("/text"), to: file, resuming: resuming)
      let error = try #require(await queue.run(download).errors.first as? CocoaError)
      #expect(error.localizedDescription.contains("'\(file.path)': it is a \(kind)"))
      #expect(file.fileType == type)
    }
    #expect(server.requests.value == 0 && directory.names == ["folder", "pipe"])
  }

  @Test(
    "I4: a file passes its permissions on to the download that replaces it",
    arguments: [false, true])
  func permissions(resuming: Bool) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    for mode in [mode_t(0o600), 0o640, 0o400] {
      let file = directory.url.appending(path: "file-\(mode)")
      try Data("before".utf8).write(to: file)
      try #require(unsafe chmod(file.path, mode) == 0)
      let download = NetworkDownloadProcedure(
        session: session, url: server.url("/text"), to: file, resuming: resuming)
      #expect(await queue.run(download).isSuccess)
      #expect(file.fileMode(followingLinks: false).map { $0 & 0o777 } == mode)
      #expect(try Data(contentsOf: file) != Data("before".utf8))
    }
  }

  @Test("I4: a file behind symbolic links arrives whole, also after a redirect")
  func linkedUpload() async throws {
    let body = Data.pattern(100_000)
    let server = try LoopbackServer { request, connection in
      if request.path == "/old" {
        connection.send(status: "307 Moved", header: "Location: /new")
      } else {
        connection.send(body: "\(request.body.count) \(request.body == body)")
      }
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let folder = directory.url.appending(path: "folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try body.write(to: folder.appending(path: "backup ü#1"))
    func link(_ name: String, to target: String) throws {
      try FileManager.default.createSymbolicLink(
        atPath: directory.url.appending(path: name).path, withDestinationPath: target)
    }
    try link("latest", to: "folder/backup ü#1")
    try link("latest of all", to: "latest")
    try link("other", to: "folder")
    for place in ["latest", "latest of all", "other/backup ü#1"] {
      for path in ["/new", "/old"] {
        var request = URLRequest(url: server.url(path))
        request.httpMethod = "PUT"
        let file = directory.url.appending(path: place)
        let upload = NetworkUploadProcedure(session: session, request: request, body: .file(file))
        queue.add(upload)
        #expect(try await String(decoding: upload.value.payload, as: UTF8.self) == "100000 true")
      }
    }
  }

  #if os(Linux)
    @Test("I4: an upload whose file has not its size of contents fails, and an empty one arrives")
    func sizes() async throws {
      let server = try LoopbackServer { request, connection in
        connection.send(body: "\(request.body.count)")
      }
      defer { server.stop() }
      var request = URLRequest(url: server.url("/"))
      request.httpMethod = "PUT"
      for path in ["/proc/self/status", "/proc/self/mounts"] {
        let upload = NetworkUploadProcedure(
          session: session, request: request, body: .file(URL(filePath: path)))
        let error = await queue.run(upload).errors.first as? URLError
        #expect(error?.code == .cannotOpenFile)
        #expect(error?.userInfo[NSFilePathErrorKey] as? String == path)
      }
      #expect(server.requests.value == 0)
      let directory = try TemporaryDirectory()
      let empty = directory.url.appending(path: "empty")
      try Data().write(to: empty)
      let upload = NetworkUploadProcedure(session: session, request: request, body: .file(empty))
      queue.add(upload)
      #expect(try await upload.value.payload == Data("0".utf8))
    }
  #endif

  @Test("I4: a download does not replace its destination with a file that is not its own")
  func foreignPart() throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data("before".utf8).write(to: file)
    let response = try #require(
      HTTPURLResponse(url: file, statusCode: 200, httpVersion: nil, headerFields: nil))
    let sink = FileSink(of: URLRequest(url: file), for: file)
    try sink.begin(response)
    try sink.receive(Data("whole".utf8))
    let name = try #require(directory.names.first { $0 != "file" })
    let part = directory.url.appending(path: name)
    try FileManager.default.removeItem(at: part)
    try Data("half".utf8).write(to: part)
    let error = #expect(throws: CocoaError.self) { try sink.end() }
    #expect(error?.underlying as? POSIXError == POSIXError(.ENOENT))
    #expect(try String(contentsOf: file, encoding: .utf8) == "before")
  }

  @Test("I4: JSON comes out as a value, and other bytes fail with the decoder's error")
  func json() async throws {
    struct Release: Codable, Equatable { let name: String, size: Int }
    let server = try LoopbackServer { request, connection in
      connection.send(
        body: request.path == "/bad" ? "<html>" : #"[{"name": "a", "size": 1}]"#)
    }
    defer { server.stop() }
    for path in ["/good", "/bad"] {
      let fetch = NetworkDataProcedure(session: session, url: server.url(path))
      let decode = DecodeJSONProcedure([Release].self).injectPayload(fromNetwork: fetch)
      queue.add(fetch, decode)
      if path == "/good" {
        #expect(try await decode.value == [Release(name: "a", size: 1)])
      } else {
        await #expect(throws: DecodingError.self) { try await decode.value }
      }
    }
    let encode = EncodeJSONProcedure<Double>()
    encode.input = .infinity
    #expect(await queue.run(encode).errors.first is EncodingError)
  }

  #if os(Linux)
    @Test(
      "I4: memory is flat while 100 MB come down to a file",
      .enabled(if: Rounds.isStress, "only with STRESS"))
    func flatMemory() async throws {
      // A process of its own: other tests use memory too.
      await #expect(processExitsWith: .success) {
        let server = try LoopbackServer { _, connection in
          let piece = Data(count: 1 << 20)
          connection.sendHead(length: 100 * piece.count)
          for _ in 0..<100 { connection.send(piece) }
        }
        let directory = try TemporaryDirectory()
        let download = {
          NetworkDownloadProcedure(
            url: server.url("/"), to: directory.url.appending(path: "file"))
        }
        let queue = ProcedureQueue()
        let before = PeakMemory.inBytes
        _ = try await queue.value(of: download())
        let growth = PeakMemory.inBytes - before
        print("grew by \(growth) bytes from \(before)")
        // Of that, libcurl with what it loads takes most.
        precondition(before > 0 && growth < 32_000_000, "grew by \(growth) bytes")
      }
    }

    @Test(
      "I4: 600 MB through a slow sink need no more memory than its buffer",
      .enabled(if: ProcessInfo.processInfo.environment["STRESS"] != nil))
    func slowSink() async throws {
      await #expect(processExitsWith: .success) {
        final class SlowSink: BodySink {
          private var count = 0

          func begin(_ response: HTTPURLResponse) {}
          func receive(_ piece: Data) {
            count += piece.count
            // The network is faster than this.
            usleep(50)
          }
          func end() -> Int { count }
          func discard(after error: any Error) {}
        }
        let server = try LoopbackServer { _, connection in
          let piece = Data(count: 1 << 20)
          connection.sendHead(length: 600 * piece.count)
          for _ in 0..<600 { connection.send(piece) }
        }
        let queue = ProcedureQueue()
        let before = PeakMemory.inBytes
        let stream = NetworkStreamProcedure(url: server.url("/")) { SlowSink() }
        let count = try await queue.value(of: stream).payload
        let growth = PeakMemory.inBytes - before
        print("grew by \(growth) bytes from \(before)")
        precondition(count == 600 << 20 && growth < 32_000_000, "grew by \(growth) bytes")
      }
    }
  #endif
}

enum PeakMemory {
  static var inBytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return line.split(separator: " ").compactMap { Int($0) }.first.map { $0 * 1_024 } ?? 0
  }
}
