import ProcedureTestSupport
import Testing

/// What the compiler refuses, asked of the compiler itself.
@Suite(
  .hangLimit,
  .enabled(
    if: TypeChecker.current != nil,
    "needs swiftc in PATH and the modules beside the test binary (.build/…/Modules)"))
struct InjectionMustNotCompileTests {
  @Test(
    "R3: the compiler refuses sources in another order than the input's types, and names both tuples"
  )
  func order() throws {
    let unexpected = try #require(TypeChecker.current).verify(
      """
      import Procedures

      func injects(
        _ number: ResultProcedure<Int>, _ text: ResultProcedure<String>,
        _ target: TransformProcedure<(Int, String), Int>
      ) {
        target.injectResult(from: number, text)
        target.injectResult(from: text, number)  // expected-error {{requires the types '(Int, String)' and '(String, Int)' be equivalent}}
      }
      """)
    #expect(unexpected == "")
  }

  @Test("G7: only a group recovers")
  func recovering() throws {
    let unexpected = try #require(TypeChecker.current).verify(
      """
      import Procedures

      func recovers(_ group: RetryProcedure<BlockProcedure>, _ procedure: BlockProcedure) {
        group.recover { retry, _, errors in retry.count > 2 ? [] : errors }
        procedure.recover { _, _, errors in errors }  // expected-error {{requires that 'BlockProcedure' inherit from 'GroupProcedure'}}
      }
      """)
    #expect(unexpected == "")
  }
}
