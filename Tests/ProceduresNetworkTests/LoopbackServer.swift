import Dispatch
import Foundation
import ProcedureTestSupport

/// A small HTTP server on 127.0.0.1 with a port of its own, in plain sockets.
///
/// `/text` is answered with a text. `/silence` is never answered: the server reads until the
/// connection ends, and opens a gate.
final class LoopbackServer: Sendable {
  static let text = "what the server said"

  #if canImport(Darwin)
    private static let stream = SOCK_STREAM
    private static let noSignal: CInt = 0
  #else
    private static let stream = CInt(SOCK_STREAM.rawValue)
    private static let noSignal = CInt(MSG_NOSIGNAL)
  #endif

  /// Opened when a request for `/silence` has come.
  let asked = Gate()
  /// Opened when its connection has ended.
  let connectionEnded = Gate()
  /// How many requests came.
  let requests = Counter()

  let port: UInt16
  private let listener: CInt

  init() throws {
    let listener = socket(AF_INET, Self.stream, 0)
    guard listener >= 0 else { throw POSIXError(.EIO) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    let queue = DispatchQueue(label: "loopback.accept")
    queue.async { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0, let server = self else { return }
        DispatchQueue(label: "loopback.connection").async { server.serve(connection) }
      }
    }
  }

  /// Ends the listening; connections end by themselves.
  func stop() {
    shutdown(listener, CInt(SHUT_RDWR))
    close(listener)
  }

  func url(_ path: String) -> URL {
    URL(string: "http://127.0.0.1:\(port)\(path)")!
  }

  private func serve(_ connection: CInt) {
    defer { close(connection) }
    guard let request = read(connection) else { return }
    requests.increment()
    if request.hasPrefix("GET /silence ") {
      asked.open()
      while read(connection) != nil {}
      return connectionEnded.open()
    }
    write(
      """
      HTTP/1.1 200 OK\r
      Content-Type: text/plain\r
      Content-Length: \(Self.text.utf8.count)\r
      Connection: close\r
      \r
      \(Self.text)
      """, to: connection)
  }

  /// Nil when the connection has ended.
  private func read(_ connection: CInt) -> String? {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe recv(connection, &bytes, bytes.count, 0)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }

  private func write(_ text: String, to connection: CInt) {
    let bytes = Array(text.utf8)
    _ = unsafe send(connection, bytes, bytes.count, Self.noSignal)
  }
}
