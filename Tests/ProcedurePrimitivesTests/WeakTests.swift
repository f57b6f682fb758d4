import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct WeakTests {
  private final class Object: Sendable {}

  @Test("a weak reference has its object as long as something else keeps it")
  func object() {
    var object: Object? = Object()
    let reference = object.map { Weak($0) }
    #expect(reference?.object === object)
    object = nil
    #expect(reference?.object == nil)
  }
}
