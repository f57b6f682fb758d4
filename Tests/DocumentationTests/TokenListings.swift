import Cancellation
import Dispatch
import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// listing: token-first
func firstPrimes(_ count: Int, token: CancellationToken = .never) throws -> [Int] {
  var primes: [Int] = []
  var candidate = 2
  while primes.count < count {
    try token.checkCancellation()
    if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
    candidate += 1
  }
  return primes
}
// end

// listing: token-handler
func readToEnd(_ connection: Connection, token: CancellationToken) {
  withBlockingCancellationHandler(for: token) {
    connection.readToEnd()  // blocks; returns early when the connection is closed
  } onCancel: {
    connection.close()
  }
}
// end

// listing: token-time-left
func fetch(_ url: URL, token: CancellationToken) throws -> URLRequest {
  try token.checkCancellation()
  var request = URLRequest(url: url)
  // Not 0, which means no limit.
  if let left = token.timeLeft { request.timeoutInterval = max(left / .seconds(1), 0.001) }
  return request
}
// end

// listing: token-target
final class Upload: Cancelable {
  let connection = Connection()

  func cancel() { connection.close() }
}
// end

// listing: token-main-actor-target
@MainActor final class Spinner: Cancelable {
  var isTurning = true

  nonisolated func cancel() { Task { @MainActor in isTurning = false } }
}
// end

// listing: token-guard
func start(_ work: (CancellationToken) throws -> Void) throws -> CancellationTokenSource {
  let source = CancellationTokenSource()
  let cancellation = CancellationGuard(source)
  try work(cancellation.token)  // if it throws, what was started is cancelled
  cancellation.disarm()
  return source
}
// end

// listing: token-owner
final class Player: Sendable {
  private let source = CancellationTokenSource()

  var token: CancellationToken { source.token }

  deinit { source.cancel() }
}
// end

// listing: token-weak-capture
final class Downloader: Sendable {
  private let source = CancellationTokenSource()
  private let log = Recorder<String>()

  init() {
    source.token.onCancel { [log] in log.note("cancelled") }  // not self
  }
}
// end

@Suite("Listings of the guides to tokens", .hangLimit)
struct TokenListings {
  @Test func polling() throws {
    #expect(try firstPrimes(5) == [2, 3, 5, 7, 11])
    #expect(throws: CancellationError.self) { try firstPrimes(5, token: .cancelled) }
  }

  @Test func reasons() {
    let token = CancellationToken.timeout(.zero)
    let output = Recorder<String>()
    func print(_ value: Any) { output.note("\(value)") }
    // listing: token-reason
    do {
      print(try firstPrimes(100_000, token: token))
    } catch is CancellationError {
      if case .deadlineExceeded? = token.reason { print("that took too long") }
    } catch {
      print(error)
    }
    // end
    #expect(output.events == ["that took too long"])
  }

  @MainActor private final class Screen {
    var status = ""

    func follow(_ token: CancellationToken) {
      // listing: token-main-actor
      token.onCancel { @MainActor [weak self] in self?.status = "cancelled" }
      // end
    }
  }

  @Test @MainActor func mainActor() async {
    let source = CancellationTokenSource()
    let (screen, spinner) = (Screen(), Spinner())
    screen.follow(source.token)
    source.token.register(spinner)
    source.cancel()
    #expect(await eventually { !spinner.isTurning && !screen.status.isEmpty })
    #expect(!spinner.isTurning && screen.status == "cancelled")
  }

  @Test func handler() async {
    let (source, connection, done) = (CancellationTokenSource(), Connection(), Gate())
    let token = source.token
    DispatchQueue(label: "reader").async {
      readToEnd(connection, token: token)
      done.open()
    }
    source.cancel()
    await done.wait()
    #expect(connection.isClosed)
  }

  @Test func sourceAndToken() throws {
    // listing: token-source
    let source = CancellationTokenSource()
    let work = Work(token: source.token)  // hand out the token, keep the source
    work.begin()
    source.cancel()
    // end
    #expect(work.isStopped)
  }

  @Test func targets() {
    let source = CancellationTokenSource()
    let token = source.token
    // listing: token-target
    let upload = Upload()
    token.register(upload)  // does not keep it alive
    // end
    source.cancel()
    #expect(upload.connection.isClosed)
  }

  @Test func combining() {
    let (screen, button, first, second) = (
      CancellationTokenSource(), CancellationTokenSource(), CancellationTokenSource(),
      CancellationTokenSource()
    )
    // listing: token-combine
    let request: CancellationToken =
      screen.token || button.token || .timeout(.seconds(30))  // whichever is first
    let download = first.token && second.token  // shared: stops when both have left
    // end
    button.cancel()
    first.cancel()
    #expect(request.isCancelled && !download.isCancelled)
    second.cancel()
    #expect(download.isCancelled)
  }

  @Test func sharing() {
    let (kitchen, bedroom) = (CancellationTokenSource(), CancellationTokenSource())
    // listing: token-shared
    let viewers = SharedCancellation()
    let film = viewers.token  // cancelled when the last viewer has left
    viewers.join(until: kitchen.token)
    viewers.join(until: bedroom.token)
    // end
    kitchen.cancel()
    #expect(!film.isCancelled)
    bedroom.cancel()
    #expect(film.isCancelled)
  }

  @Test func linking() {
    // listing: token-link
    let session = CancellationTokenSource()
    let request = CancellationTokenSource(linkedTo: session.token)
    request.cancel(after: .seconds(30))
    session.cancel()  // and the request
    // end
    #expect(request.isCancelled)
  }

  @Test func timeLeft() throws {
    let url = try #require(URL(string: "http://a.example"))
    let request = try fetch(url, token: .timeout(.seconds(3_600)))
    #expect((1...3_600).contains(request.timeoutInterval))
    #expect(try fetch(url, token: .never).timeoutInterval == 60)
    #expect(throws: CancellationError.self) { try fetch(url, token: .cancelled) }
  }

  @Test func queues() {
    let source = CancellationTokenSource()
    let (token, recorder) = (source.token, Recorder<String>())
    let queue = DispatchQueue(label: "model")
    // listing: token-queue
    token.onCancel(on: queue) { recorder.note("delivered on the queue") }
    // end
    source.cancel()
    queue.sync {}
    #expect(recorder.events.count == 1)
  }

  @Test func guards() throws {
    struct Failure: Error {}
    let kept = Locked<CancellationToken>(.never)
    #expect(throws: Failure.self) {
      _ = try start { token in
        kept.withLock { $0 = token }
        throw Failure()
      }
    }
    #expect(kept.withLock { $0.isCancelled })
    #expect(try !start { _ in }.isCancelled)
  }

  @Test func owners() {
    var player: Player? = Player()
    let token = player!.token
    player = nil
    #expect(token.isCancelled)
    _ = Downloader()
  }
}

/// Stands for work that is given a token.
private final class Work: Sendable {
  private let token: CancellationToken
  private let stopped = Gate()

  var isStopped: Bool { stopped.isOpen }

  init(token: CancellationToken) { self.token = token }

  func begin() { token.onCancel { [stopped] in stopped.open() } }
}
