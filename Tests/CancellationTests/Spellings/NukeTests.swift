import Cancellation
import ProcedureTestSupport
import Testing

/// One token through several layers of a loading pipeline, as Nuke used it.
@Suite(.hangLimit) struct NukeTests {
  final class DataTask: Sendable {
    let cancelled = Gate()
    func cancel() { cancelled.open() }
  }

  struct Loader {
    func loadData(token: CancellationToken?) -> DataTask {
      let task = DataTask()
      token?.register { task.cancel() }
      return task
    }

    func process(_ steps: Int, token: CancellationToken?) -> Int {
      var done = 0
      while done < steps, token?.isCancelling != true { done += 1 }
      return done
    }
  }

  @Test("K3: one cancel reaches every operation that was registered, early or late")
  func pipeline() {
    let loader = Loader()
    let source = CancellationTokenSource()
    let first = loader.loadData(token: source.token)
    #expect(!source.isCancelling && loader.process(5, token: source.token) == 5)
    source.cancel()
    #expect(source.isCancelling && first.cancelled.isOpen)
    #expect(loader.loadData(token: source.token).cancelled.isOpen)
    #expect(loader.process(5, token: source.token) == 0)
    #expect(loader.process(5, token: nil) == 5)
    #expect(!loader.loadData(token: nil).cancelled.isOpen)
  }

  /// What the article's loader does, with the label that its declaration has.
  struct ArticleLoader {
    func loadImage(_ task: DataTask, token: CancellationToken?) {
      token?.register { task.cancel() }
    }
    func finishEarly(_ finish: @escaping @Sendable () -> Void, token: CancellationToken) {
      token.register(finish)
      token.register(closure: finish)
    }
  }

  @Test("K14: register takes a closure that is trailing, bare or labelled")
  func spellings() {
    let (source, task, calls) = (CancellationTokenSource(), DataTask(), Counter())
    let loader = ArticleLoader()
    loader.loadImage(task, token: source.token)
    loader.loadImage(task, token: nil)
    loader.finishEarly({ calls.increment() }, token: source.token)
    source.cancel()
    #expect(task.cancelled.isOpen && calls.value == 2)
  }
}
