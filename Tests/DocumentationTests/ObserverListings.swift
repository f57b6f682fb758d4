import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

// listing: observers-value
struct Log: ProcedureObserver {
  let write: @Sendable (String) -> Void

  var events: ProcedureEvents { [.willExecute, .didFinish] }

  func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    write("\(procedure.name) starts")
  }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    write("\(procedure)")
  }
}
// end

// listing: observers-main-actor
@MainActor final class WordsModel: MainActorProcedureObserver {
  var words = 0
  var isDone = false

  func show(_ count: CountWords, _ errors: [any Error]) { words = count.count }

  func observe(_ count: CountWords) {
    count.addDidFinishBlockObserver(show)
    count.addDidCancelBlockObserver { @MainActor in self.words = 0 }
    count.add(observer: self)
  }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) { isDone = true }
}
// end

// listing: observers-delegate
@MainActor final class Badge: ProcedureQueueDelegate {
  var finished = 0

  nonisolated func procedureQueue(
    _ queue: ProcedureQueue, didFinish procedure: Procedure, withErrors errors: [any Error]
  ) {
    Task { @MainActor in finished += 1 }
  }
}
// end

@Suite("Listings of the guide Observers", .hangLimit)
struct ObserverListings {
  private let queue = ProcedureQueue()
  private let output = Recorder<String>()

  @Test("an observer is a value")
  func value() async {
    let count = CountWords("to be")
    let output = output
    count.add(observer: Log { output.note($0) })
    _ = await queue.run(count)
    #expect(
      output.events == [
        "count the words starts", "'count the words' (CountWords, finished)",
      ])
  }

  @Test("observers run on the main actor")
  func mainActor() async {
    let count = CountWords("to be")
    let (model, badge) = (WordsModel(), Badge())
    await model.observe(count)
    queue.delegate = badge
    _ = await queue.run(count)
    let (words, isDone) = await (model.words, model.isDone)
    #expect(words == 2 && isDone)
    while await badge.finished == 0 { await Task.yield() }
    #expect(await badge.finished == 1)
  }

  @Test("an observer that leaves its arguments out")
  func noParameters() async {
    let count = CountWords("to be")
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: observers-short
    count.addDidFinishBlockObserver { print("done") }
    // end
    _ = await queue.run(count)
    #expect(output.events == ["done"])
  }

  @Test("a late observer is called at once")
  func late() async {
    let count = CountWords("to be")
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: observers-late
    _ = await queue.run(count)
    count.addDidFinishBlockObserver { count, _ in print("\(count.count) words") }
    // end
    let told = Gate()
    count.addDidFinishBlockObserver { _, _ in told.open() }
    await told.wait()
    #expect(output.events == ["2 words"])
  }

  @Test("an observer is removed")
  func remove() async {
    let count = CountWords("to be")
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: observers-remove
    let registration = count.addDidFinishBlockObserver { _, _ in print("never") }
    registration.remove()
    // end
    _ = await queue.run(count)
    #expect(output.events.isEmpty)
  }

  @Test("an observer holds an event back")
  func hold() async {
    let count = CountWords("to be")
    let uploads = Recorder<@Sendable () -> Void>()
    let asked = Gate()
    @Sendable func upload(_ count: Int, completion: @escaping @Sendable () -> Void) {
      uploads.note(completion)
      asked.open()
    }
    // listing: observers-hold
    count.addWillFinishBlockObserver { count, errors, pendingFinish in
      upload(count.count) { pendingFinish.release() }
    }
    // end
    queue.add(count)
    await asked.wait()
    #expect(!count.isFinished)
    uploads.events[0]()
    #expect(await count.waitUntilFinished() == .succeeded)
  }

  @Test("an observer is called on a queue of yours")
  func synchronized() async {
    let count = CountWords("to be")
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    let view = DispatchQueue(label: "view")
    // listing: observers-queue
    count.addDidFinishBlockObserver(synchronizedWith: view) { count, _ in
      dispatchPrecondition(condition: .onQueue(view))
      print("\(count.count) words")
    }
    // end
    _ = await queue.run(count)
    #expect(output.events == ["2 words"])
  }
}
