import ProcedureTestSupport
import Testing

@testable import Procedures

private protocol Shape: Sendable { var corners: Int { get } }

private struct Square: Shape {
  var corners: Int { 4 }
}

private struct Wide: Sendable, Equatable {
  var words = [1, 2, 3, 4, 5]
  var text = "wider than what needs no memory of its own"
  var numbers = (1, 2, 3)

  static func == (left: Self, right: Self) -> Bool {
    left.words == right.words && left.text == right.text && left.numbers == right.numbers
  }
}

/// What is kept of a value whose type only its user knows, and comes back.
@Suite("Stored values", .hangLimit)
struct StoredValueTests {
  /// By a type that the compiler does not know here either.
  private func back<Value: Sendable>(_ value: Value) throws -> Value {
    let stored = StoredValue(value)
    let required = try stored.value(as: Value.self, orThrow: TestError("required"))
    _ = required
    return try #require(stored.value(as: Value.self))
  }

  @Test("a value comes back as the type that it was kept as")
  func types() throws {
    #expect(try back(3) == 3)
    #expect(try back(Wide()) == Wide())
    #expect(try back("text") == "text")
    #expect(try back((1, "a")) == (1, "a"))
    #expect(try back(()) == ())
    #expect(try back(Int.self) == Int.self)
    #expect(try back({ @Sendable in 7 })() == 7)
  }

  @Test("an optional comes back as it is, nil as well")
  func optionals() throws {
    #expect(try back(Int?.none) == .none)
    #expect(try back(Int?.some(1)) == .some(1))
    #expect(try back(Int??.some(nil)) == .some(nil))
    #expect(try back([nil, 1]) == [nil, 1])
  }

  @Test("a value of a protocol comes back as one of that protocol")
  func protocols() throws {
    #expect(try back(Square() as any Shape).corners == 4)
    #expect(try back(TestError("e") as any Error) as? TestError == TestError("e"))
    #expect(try back(3 as any Sendable) as? Int == 3)
    // A nil that is known as a value of anything is one.
    #expect(try back(Int?.none as any Sendable) as? Int? == .some(nil))
    #expect(try back([Square()] as [any Shape]).count == 1)
  }

  @Test("a value of another type, and an error, are no value of that type")
  func others() throws {
    #expect(StoredValue(3).value(as: String.self) == nil)
    #expect(StoredValue(failure: TestError("e")).value(as: Int.self) == nil)
    #expect(throws: TestError("missing")) {
      try StoredValue("3").value(as: Int.self, orThrow: TestError("missing"))
    }
    #expect(throws: TestError("missing")) {
      try StoredValue(failure: TestError("e")).value(as: Int.self, orThrow: TestError("missing"))
    }
  }

  @Test("a result comes back with its value or its error")
  func results() throws {
    let success = StoredValue.keeping(.success(3)).result(as: Int.self)
    #expect(try success?.get() == 3)
    let failure = StoredValue.keeping(Result<Int, any Error>.failure(TestError("e")))
    #expect(throws: TestError("e")) { try failure.result(as: Int.self)?.get() }
  }

  @Test("a value of any type is handed over between procedures", arguments: [false, true])
  func handedOver(isNil: Bool) async throws {
    let queue = ProcedureQueue()
    let source = ResultProcedure<(any Shape)?> { isNil ? nil : Square() }
    let target = TransformProcedure<(any Shape)?, Int> { $0?.corners ?? 0 }
    target.injectResult(from: source)
    queue.add(source, target)
    #expect(try await target.value == (isNil ? 0 : 4))
    #expect(target.dependencies.isEmpty)
  }
}
