import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import Testing

/// As it is written with operations.
private enum Before {
  // listing: coming-before
  class AsynchronousOperation: Operation, @unchecked Sendable {
    let lock = NSLock()
    private var executes = false
    private var hasFinished = false
    private var failure: (any Error)?

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { executes } }
    override var isFinished: Bool { lock.withLock { hasFinished } }
    var error: (any Error)? { lock.withLock { failure } }

    override func start() {
      guard !isCancelled else { return finish(nil) }
      willChangeValue(forKey: "isExecuting")
      lock.withLock { executes = true }
      didChangeValue(forKey: "isExecuting")
      main()
    }

    func finish(_ error: (any Error)?) {
      guard !isFinished else { return }
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      lock.withLock { (executes, hasFinished, failure) = (false, true, error) }
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }

  final class FetchPage: AsynchronousOperation, @unchecked Sendable {
    private let client: PageClient
    private let path: String
    private var request: PageClient.Request?
    private var page: String?

    init(_ path: String, with client: PageClient) {
      (self.path, self.client) = (path, client)
      super.init()
      name = "fetch \(path)"
    }

    var text: String? { lock.withLock { page } }

    override func main() {
      let request = client.load(path) { result in
        switch result {
        case .success(let text):
          self.lock.withLock { self.page = text }
          self.finish(nil)
        case .failure(let error): self.finish(error)
        }
      }
      lock.withLock { self.request = request }
      if isCancelled { request.cancel() }  // it may have come before there was a request
    }

    override func cancel() {
      super.cancel()
      lock.withLock { request }?.cancel()
    }
  }
  // end

  final class CountWords: Operation, @unchecked Sendable {
    private let fetch: FetchPage
    private(set) var count = 0
    private(set) var error: (any Error)?

    init(in fetch: FetchPage) {
      self.fetch = fetch
      super.init()
      addDependency(fetch)
    }

    override func main() {
      guard let text = fetch.text else {
        error = fetch.error ?? CancellationError()
        return
      }
      for _ in text.split(separator: " ") {
        if isCancelled { return }
        count += 1
      }
    }
  }

  final class PageIndex: @unchecked Sendable {
    private let client: PageClient
    private let queue = OperationQueue()

    init(_ client: PageClient) {
      self.client = client
      queue.maxConcurrentOperationCount = 2
    }

    func count(
      _ paths: [String], completion: @escaping @Sendable (Result<Int, any Error>) -> Void
    ) {
      let fetches = paths.map { FetchPage($0, with: client) }
      let counts = fetches.map { CountWords(in: $0) }
      let total = BlockOperation {
        if let error = counts.lazy.compactMap(\.error).first {
          completion(.failure(error))
        } else if counts.contains(where: \.isCancelled) {
          completion(.failure(CancellationError()))
        } else {
          completion(.success(counts.reduce(0) { $0 + $1.count }))
        }
      }
      for count in counts { total.addDependency(count) }
      queue.addOperations(fetches + counts, waitUntilFinished: false)
      OperationQueue.main.addOperation(total)
    }

    func cancel() { queue.cancelAllOperations() }
  }
}

/// As it is written here.
private enum After {
  // listing: coming-after
  final class FetchPage: Procedure, OutputProcedure, @unchecked Sendable {
    typealias Output = String

    private let client: PageClient
    private let path: String
    private var request: PageClient.Request?

    init(_ path: String, with client: PageClient) {
      (self.path, self.client) = (path, client)
      super.init()
      name = "fetch \(path)"
    }

    override func execute() {
      request = client.load(path) { result in self.finish(withResult: result) }
    }

    override func procedureDidCancel(withErrors errors: [any Error]) {
      request?.cancel()  // which calls back, and so finishes it
    }
  }

  final class PageIndex: Sendable {
    private let client: PageClient
    private let queue = ProcedureQueue(maxConcurrentProcedureCount: 2)

    init(_ client: PageClient) { self.client = client }

    func count(_ paths: [String]) async throws -> Int {
      let counts = paths.map { path in
        let fetch = FetchPage(path, with: client)
        let count = TransformProcedure<String, Int> { procedure, text in
          var count = 0
          for _ in text.split(separator: " ") where !procedure.isCancelled { count += 1 }
          return count
        }
        count.injectResult(from: fetch)
        queue.add(fetch, count)
        return count
      }
      return try await queue.value(of: counts.gathered()).reduce(0, +)
    }

    func cancel() { queue.cancelAll() }
  }
  // end
}

/// Stands for a client library with completion handlers. It knows two pages; of a third nothing
/// comes.
private final class PageClient: Sendable {
  struct Request: Sendable {
    fileprivate let completion: @Sendable (Result<String, any Error>) -> Void

    func cancel() { completion(.failure(CancellationError())) }
  }

  struct NoPage: Error {}

  let asked = Gate()

  func load(
    _ path: String, _ completion: @escaping @Sendable (Result<String, any Error>) -> Void
  ) -> Request {
    switch path {
    case "/a": completion(.success("to be or"))
    case "/b": completion(.success("not to be"))
    case "/silence": asked.open()
    default: completion(.failure(NoPage()))
    }
    return Request(completion: completion)
  }
}

@Suite("Listings of the guide ComingFromOperationQueue: a program", .hangLimit)
struct PageCountListings {
  @Test("before and after count the same, and fail with the same error")
  func counting() async throws {
    let client = PageClient()
    let (before, after) = (Before.PageIndex(client), After.PageIndex(client))
    for (paths, expected) in [(["/a", "/b"], 6), (["/a", "/c"], nil)] {
      let counted = await withCheckedContinuation { continuation in
        before.count(paths) { continuation.resume(returning: $0) }
      }
      if let expected {
        let count = try await after.count(paths)
        #expect(try counted.get() == expected && count == expected)
      } else {
        #expect(throws: PageClient.NoPage.self) { try counted.get() }
        await #expect(throws: PageClient.NoPage.self) { try await after.count(paths) }
      }
    }
  }

  @Test("a cancel ends both")
  func cancelling() async {
    let (first, second) = (PageClient(), PageClient())
    let (before, after) = (Before.PageIndex(first), After.PageIndex(second))
    async let counted = withCheckedContinuation { continuation in
      before.count(["/a", "/silence"]) { continuation.resume(returning: $0) }
    }
    await first.asked.wait()
    before.cancel()
    let result = await counted
    #expect(throws: (any Error).self) { try result.get() }
    let counting = Task { try await after.count(["/a", "/silence"]) }
    await second.asked.wait()
    after.cancel()
    await #expect(throws: (any Error).self) { try await counting.value }
  }
}
