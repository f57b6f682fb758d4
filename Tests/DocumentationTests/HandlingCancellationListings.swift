import Procedures
import ProcedureTestSupport
import Testing

// listing: cancel-look-back
final class Publish: Procedure, @unchecked Sendable {
  struct NotBuilt: Error {}

  private let build: Procedure
  private(set) var isPublished = false

  init(_ build: Procedure) {
    self.build = build
    super.init()
    add(dependency: build)
  }

  override func execute() {
    guard case .succeeded? = build.outcome else {
      finish(withError: NotBuilt())
      return
    }
    isPublished = true
    finish()
  }
}
// end

@Suite("Listings of the guide HandlingCancellation", .hangLimit)
struct HandlingCancellationListings {
  private let output = Recorder<String>()

  @Test("a cancel follows its sequence")
  func sequence() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = TracedProcedure("export", trace: output, end: .whenToldOrCancelled)
    queue.add(procedure)
    scheduler.run()
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: cancel-sequence
    procedure.cancellationToken.onCancel { print("token") }
    procedure.addDidCancelBlockObserver { _, _ in print("observer") }
    let counts = procedure.cancel(withErrors: [])
    print("cancel returned \(counts), isCancelled is \(procedure.isCancelled)")
    // end
    scheduler.run()
    #expect(
      output.events == [
        "export execute", "token", "cancel returned true, isCancelled is true",
        "export procedureDidCancel", "observer", "export procedureWillFinish",
        "export procedureDidFinish",
      ])
  }

  @Test("a dependent looks at what it depends on")
  func lookBack() async {
    let queue = ProcedureQueue()
    let build = BlockProcedure {}
    let publish = Publish(build)
    build.cancel()
    queue.add(build, publish)
    await queue.waitUntilAllFinished()
    #expect(publish.outcome == .failed([Publish.NotBuilt()]))
    let second = BlockProcedure {}
    let published = Publish(second)
    queue.add(second, published)
    await queue.waitUntilAllFinished()
    #expect(published.isPublished)
  }

  @Test("K9: a dependency that nobody needs any more is cancelled")
  func unneeded() {
    let (download, resize, index) = (Endless(), BlockProcedure {}, BlockProcedure {})
    // listing: cancel-unneeded
    resize.add(dependency: download)
    index.add(dependency: download)
    download.cancel(when: .all(of: resize.cancellationToken, index.cancellationToken))
    // end
    resize.cancel()
    #expect(!download.isCancelled)
    index.cancel()
    #expect(download.isCancelled)
  }

  @Test("K15: a dependency is cancelled with the last who needs it, although some come later")
  func viewers() {
    let (download, views) = (Endless(), (0..<3).map { _ in BlockProcedure {} })
    // listing: cancel-viewers
    let viewers = SharedCancellation()
    download.cancel(when: viewers.token)

    func show(_ view: Procedure) {
      view.add(dependency: download)
      viewers.join(until: view.cancellationToken)
    }
    // end
    for view in views {
      #expect(!download.isCancelled)
      show(view)
    }
    for view in views { view.cancel() }
    #expect(download.isCancelled)
  }

  @Test("one token cancels everything")
  func oneSwitch() async {
    let queue = ProcedureQueue()
    let steps: [Procedure] = [
      Endless(), Endless(), BlockProcedure { throw TestError("no space left") },
    ]
    // listing: cancel-one-switch
    let stop = CancellationTokenSource()
    stop.cancel(after: .seconds(600))
    for step in steps {
      step.addDidFinishBlockObserver { _, errors in
        if let error = errors.first { stop.cancel(.failure(error)) }
      }
      queue.add(step, cancelledBy: stop.token)
    }
    // end
    await queue.waitUntilAllFinished()
    #expect(steps.allSatisfy { $0.errors as? [TestError] == [TestError("no space left")] })
    #expect(steps.map(\.isCancelled) == [true, true, false])
  }
}
