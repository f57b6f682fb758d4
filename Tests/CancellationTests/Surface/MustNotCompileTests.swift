import ProcedureTestSupport
import Testing

/// What the compiler refuses, asked of the compiler itself.
@Suite(
  .hangLimit,
  .enabled(
    if: TypeChecker.current != nil,
    "needs swiftc in PATH and the modules beside the test binary (.build/…/Modules)"))
struct MustNotCompileTests {
  private func check(_ source: String) throws {
    let unexpected = try #require(TypeChecker.current).verify(source)
    #expect(unexpected == "")
  }

  @Test("K13: a CancellationGuard cannot be copied, and not be used after it was disarmed")
  func guardIsNotCopied() throws {
    try check(
      """
      import Cancellation

      func copies(_ original: consuming CancellationGuard) {  // expected-error {{'original' consumed more than once}}
        let first = original  // expected-note {{consumed here}}
        let second = original  // expected-note {{consumed again here}}
        _ = (first.token, second.token)
      }

      func uses(_ original: consuming CancellationGuard) {  // expected-error {{'original' used after consume}}
        original.disarm()  // expected-note {{consumed here}}
        _ = original.token  // expected-note {{used here}}
      }

      func keeps(_ original: borrowing CancellationGuard) -> [CancellationToken] {
        [original.token]
      }
      """)
  }

  @Test("K13: a CancellationGuard is not Copyable")
  func guardIsNotCopyable() throws {
    try check(
      """
      import Cancellation
      func generic<Value>(_ value: Value) {}  // expected-note {{'where Value: Copyable' is implicit here}}
      func passes(_ original: consuming CancellationGuard) {
        generic(original)  // expected-error {{global function 'generic' requires that 'CancellationGuard' conform to 'Copyable'}}
      }
      """)
  }

  @Test("the type checker accepts code that compiles, and notices a missing error")
  func checker() throws {
    try check(
      """
      import Cancellation
      let source = CancellationTokenSource()
      let token: CancellationToken = source.token || .never
      """)
    let unexpected = try #require(TypeChecker.current).verify(
      """
      import Cancellation
      let token: CancellationToken = .never  // expected-error {{no such thing}}
      """)
    #expect(unexpected.contains("expected error not produced"))
  }

  @Test("K1: handlers must be Sendable, and a source cannot be made from a token")
  func misuse() throws {
    try check(
      """
      import Cancellation
      final class State { var count = 0 }
      func misuse(_ token: CancellationToken, _ state: State) {
        token.onCancel { state.count += 1 }  // expected-error {{capture of 'state' with non-Sendable type 'State' in a '@Sendable' closure}}
        token.cancel()  // expected-error {{'cancel()' is unavailable: only the source of a token can cancel it: keep the CancellationTokenSource}}
      }  // expected-note@-4 {{class 'State' does not conform to the 'Sendable' protocol}}
      """)
  }

  @Test("K6: a source is linked to a token, and the compiler says so to who passes a source")
  func linkedToSource() throws {
    try check(
      """
      import Cancellation
      let source = CancellationTokenSource()
      let child = CancellationTokenSource(linkedTo: source)  // expected-error {{'init(linkedTo:)' is unavailable: write init(linkedTo: parent.token)}}
      let right = CancellationTokenSource(linkedTo: source.token)
      """)
  }
}
