import Cancellation
import TestSupport
import Testing

@Suite struct CancellationTokenTests {
  @Test(
    "K3: a handler registered before the cancel is called once, one registered after it at once")
  func registration() {
    let source = CancellationTokenSource()
    let calls = Counter()
    source.token.onCancel { calls.increment() }
    #expect(calls.value == 0)
    #expect(source.cancel(.requested))
    #expect(calls.value == 1)
    source.token.onCancel { calls.increment() }
    #expect(calls.value == 2)
    #expect(!source.cancel(.requested))
  }
}
