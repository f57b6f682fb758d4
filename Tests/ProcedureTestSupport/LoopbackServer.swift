internal import Dispatch
package import Foundation
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A small HTTP server on 127.0.0.1 with a port of its own, in plain sockets.
///
/// It answers with what a test says. Without that, `/text` is answered with a text, and `/silence`
/// never: the server reads until the connection ends, and opens a gate.
package final class LoopbackServer: Sendable {
  package typealias Answer = @Sendable (LoopbackRequest, LoopbackConnection) -> Void

  package static let text = "what the server said"

  #if canImport(Darwin)
    private static let stream = SOCK_STREAM
  #else
    private static let stream = CInt(SOCK_STREAM.rawValue)
  #endif

  /// Opened when a request for `/silence` has come.
  package let asked = Gate()
  /// Opened when its connection has ended.
  package let connectionEnded = Gate()
  /// How many requests came.
  package let requests = Counter()
  /// How many connections were made.
  package let connections = Counter()

  package let port: UInt16
  private let isStopped = Atomic(false)
  private let isClosed = DispatchSemaphore(value: 0)
  private let answer: Answer?

  package init(_ answer: Answer? = nil) throws {
    self.answer = answer
    let listener = socket(AF_INET, Self.stream, 0)
    guard listener >= 0 else { throw POSIXError(.EIO) }
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var address = Self.address(port: 0)
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    DispatchQueue(label: "loopback.accept").async { [weak self, isClosed] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard let server = self, !server.isStopped.load(ordering: .acquiring) else {
          if descriptor >= 0 { close(descriptor) }
          // Here, where it is used, and nowhere else: closed earlier, its number could be that of
          // another server, from which this thread would take a connection.
          close(listener)
          isClosed.signal()
          return
        }
        guard descriptor >= 0 else { continue }
        server.connections.increment()
        DispatchQueue(label: "loopback.connection").async { server.serve(descriptor) }
      }
    }
  }

  /// Ends the listening: when it returns, a connect is refused. Connections end by themselves.
  package func stop() {
    guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
    // A connection of its own is what wakes the thread that accepts, on each platform.
    let descriptor = socket(AF_INET, Self.stream, 0)
    var address = Self.address(port: port)
    _ = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    isClosed.wait()
    close(descriptor)
  }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
  }

  package func url(_ path: String) -> URL {
    URL(string: "http://127.0.0.1:\(port)\(path)")!
  }

  private func serve(_ descriptor: CInt) {
    let connection = LoopbackConnection(descriptor)
    defer { connection.end() }
    while connection.isOpen, let request = connection.readRequest() {
      requests.increment()
      if let answer {
        answer(request, connection)
      } else if request.path == "/silence" {
        asked.open()
        connection.waitForEnd()
        connectionEnded.open()
      } else {
        connection.send(body: Self.text, header: "Connection: close")
        connection.end()
      }
    }
  }
}

package struct LoopbackRequest: Sendable {
  package let method: String
  package let path: String
  /// By names in lower case.
  package let header: [String: String]
  package let body: Data
}

/// One connection, used by the thread that serves it.
package final class LoopbackConnection: Sendable {
  #if canImport(Darwin)
    private static let noSignal: CInt = 0
  #else
    private static let noSignal = CInt(MSG_NOSIGNAL)
  #endif

  private let descriptor: CInt
  private let isEnded = Atomic(false)

  init(_ descriptor: CInt) {
    self.descriptor = descriptor
    // A second small piece would wait for the other side's acknowledgement, 40 ms.
    var option: CInt = 1
    _ = unsafe setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &option, socklen_t(MemoryLayout<CInt>.size))
  }

  package var isOpen: Bool { !isEnded.load(ordering: .relaxed) }

  package func end() {
    guard !isEnded.exchange(true, ordering: .relaxed) else { return }
    close(descriptor)
  }

  /// Ends it so that the other side meets an error, and not an end.
  package func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    end()
  }

  /// Until the other side ends it.
  package func waitForEnd() {
    while let bytes = receive(), !bytes.isEmpty {}
    end()
  }

  /// Nil when the connection has ended.
  package func readRequest() -> LoopbackRequest? {
    let mark = Data("\r\n\r\n".utf8)
    var bytes = Data()
    while bytes.range(of: mark) == nil {
      guard let more = receive(), !more.isEmpty else { return nil }
      bytes += more
    }
    guard let head = bytes.range(of: mark) else { return nil }
    let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ").map(String.init)
    var header: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      header[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    var body = Data(bytes[head.upperBound...])
    let length = header["content-length"].flatMap { Int($0) } ?? 0
    while body.count < length {
      guard let more = receive(), !more.isEmpty else { return nil }
      body += more
    }
    if header["transfer-encoding"] == "chunked" {
      guard let whole = readChunks(after: body) else { return nil }
      body = whole
    }
    guard words.count >= 2 else { return nil }
    return LoopbackRequest(method: words[0], path: words[1], header: header, body: body)
  }

  /// The body whose first bytes these are, each piece of which has its length before it.
  private func readChunks(after beginning: Data) -> Data? {
    var (rest, body) = (beginning, Data())
    while true {
      while rest.range(of: Data("\r\n".utf8)) == nil {
        guard let more = receive(), !more.isEmpty else { return nil }
        rest += more
      }
      guard let line = rest.range(of: Data("\r\n".utf8)),
        let length = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16)
      else { return nil }
      rest = Data(rest[line.upperBound...])
      while rest.count < length + 2 {
        guard let more = receive(), !more.isEmpty else { return nil }
        rest += more
      }
      if length == 0 { return body }
      body += rest.prefix(length)
      rest = Data(rest.dropFirst(length + 2))
    }
  }

  /// A whole answer.
  package func send(status: String = "200 OK", body: String = "", header: String...) {
    sendHead(status: status, length: body.utf8.count, header)
    send(Data(body.utf8))
  }

  /// Its beginning: `send` what was said, or less.
  package func sendHead(status: String = "200 OK", length: Int, _ header: [String] = []) {
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(length)"] + header + ["", ""]
    send(Data(lines.joined(separator: "\r\n").utf8))
  }

  /// False when the connection has ended.
  @discardableResult
  package func send(_ data: Data) -> Bool {
    var rest = data
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { buffer in
        unsafe Self.sendBytes(descriptor, buffer.baseAddress, buffer.count, Self.noSignal)
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func sendBytes(
    _ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: CInt
  ) -> Int {
    guard let bytes = unsafe bytes else { return 0 }
    #if canImport(Darwin)
      return unsafe Darwin.send(descriptor, bytes, count, flags)
    #elseif canImport(Glibc)
      return unsafe Glibc.send(descriptor, bytes, count, flags)
    #elseif canImport(Musl)
      return unsafe Musl.send(descriptor, bytes, count, flags)
    #endif
  }

  private func receive() -> Data? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
    return count >= 0 ? Data(bytes.prefix(count)) : nil
  }
}
