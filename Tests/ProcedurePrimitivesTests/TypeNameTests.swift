import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct TypeNameTests {
  private struct Nested<Element> {}
  private enum Kind {}

  @Test(
    "a type is called what String(describing:) calls it",
    arguments: [
      Int.self, [String: [Int?]].self, Nested<Kind>.self, (any Error).self,
      (Int, name: String).self, ((Int) -> Void).self, Nested<any Sendable>.self,
      TypeNameTests.self,
    ] as [Any.Type])
  func names(type: Any.Type) {
    struct Local {}
    #expect(typeName(type) == String(describing: type))
    #expect(typeName(Local.self) == "Local")
  }
}
