import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("Reading JSON", .hangLimit)
struct JSONReaderTests {
  @Test(
    "a text comes out as it is meant",
    arguments: [
      (#""é€😀""#, "é€😀"), (#""\u00e9\ud83d\ude00""#, "é😀"),
      (#""\"\\\/\n\t\r\b\f""#, "\"\\/\n\t\r\u{8}\u{C}"),
      (#""""#, ""),
    ])
  func texts(json: String, expected: String) throws {
    guard case .string(let text) = try JSONReader.read(json.utf8).content else {
      return #expect(Bool(false), "not a text")
    }
    #expect(text == expected)
  }

  @Test("a number comes out as it is meant", arguments: [("0", 0), ("-1.5e2", -150), ("12", 12)])
  func numbers(json: String, expected: Double) throws {
    guard case .number(let number) = try JSONReader.read(json.utf8).content else {
      return #expect(Bool(false), "not a number")
    }
    #expect(number == expected)
  }

  @Test(
    "comments and trailing commas are allowed",
    arguments: ["// c\n[1,\n]", "[1] // c", "/* a\n b */ [ /**/ 1 /* ] */ , ] // ", "[1,]"])
  func comments(json: String) throws {
    guard case .array(let elements) = try JSONReader.read(json.utf8).content else {
      return #expect(Bool(false), "not a list")
    }
    #expect(elements.count == 1)
  }

  @Test("every value knows its line")
  func lines() throws {
    let root = try JSONReader.read("\n[1,\n\n {\"a\":\n  true}]\n".utf8)
    guard case .array(let elements) = root.content, case .object(let members) = elements[1].content
    else { return #expect(Bool(false), "not what was read") }
    #expect(root.line == 2)
    #expect(elements.map(\.line) == [2, 4])
    #expect(members[0].line == 4)
    #expect(members[0].value.line == 5)
  }

  @Test(
    "the elements of a long list are read when they are wanted, and know their lines",
    arguments: [
      "\n[{\"a\": \"é\\n\"},\n // c\n 1 ,]",
      "{\"x\": [0],\n\"l\":[{\"a\": \"é\\n\"},\n\n 1]}",
    ])
  func longList(json: String) throws {
    var root = try JSONReader.read(json.utf8, longKey: "l")
    if case .object(let members) = root.content {
      guard case .array = members[0].value.content else {
        return #expect(Bool(false), "not a list")
      }
      root = members[1].value
    }
    guard case .list(let list) = root.content else {
      return #expect(Bool(false), "not a long list")
    }
    #expect(list.count == 2 && root.kind == "a list")
    let (first, last) = (try list.element(0), try list.element(1))
    #expect(first.line == 2 && last.line == 4)
    guard case .object(let members) = first.content,
      case .string(let text) = members[0].value.content
    else { return #expect(Bool(false), "not what was read") }
    #expect(text == "é\n" && members[0].key == "a")
  }

  @Test(
    "a mistake in an element of a long list is found at once",
    arguments: ["[1, {\"a\": 1, \"a\": 2}]", "[\"\\q\"]", "{\"l\": [[], tru]}"])
  func mistakeInLongList(json: String) {
    #expect(throws: PlanError.self) { try JSONReader.read(json.utf8, longKey: "l") }
    let bytes: [UInt8] = [0x5B, 0x22, 0xFF, 0x22, 0x5D]
    #expect(throws: PlanError.self) { try JSONReader.read(bytes, longKey: "") }
  }

  @Test(
    "text that is not JSON is refused, with the place of the mistake",
    arguments: [
      ("", 1, 1), ("{", 1, 2), ("[1,,]", 1, 4), ("[,]", 1, 2), ("[1 2]", 1, 4), ("{\"a\" 1}", 1, 6),
      ("{a: 1}", 1, 2), ("[\n  tru]", 2, 3), ("[01]", 1, 2), ("[1.]", 1, 2), ("[+1]", 1, 2),
      ("[1e999]", 1, 2), ("[1] x", 1, 5), ("\"a\nb\"", 1, 3), ("\"a", 1, 3), ("\"\\q\"", 1, 3),
      ("\"\\u12\"", 1, 4), ("\"\\ud800\"", 1, 8), ("[\"é\", x]", 1, 7), ("'a'", 1, 1),
      ("{\"a\":1,,}", 1, 8), ("nul", 1, 1), ("[NaN]", 1, 2), ("/ 1", 1, 1), ("/* \n", 1, 1),
    ])
  func syntax(json: String, line: Int, column: Int) throws {
    let error = #expect(throws: PlanError.self) { try JSONReader.read(json.utf8) }
    #expect(error?.line == line)
    guard case .syntax(_, let found)? = error?.problem else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(found == column)
  }

  @Test("bytes that are not UTF-8 are refused, and so is endless nesting")
  func hostile() {
    #expect(throws: PlanError.self) { try JSONReader.read([0x22, 0xFF, 0x22]) }
    let deep = String(repeating: "[", count: 1_000_000)
    #expect(throws: PlanError.self) { try JSONReader.read(deep.utf8) }
    #expect(throws: PlanError.self) { try JSONReader.read(deep.utf8, longKey: "steps") }
    // Of many keys none may come twice either.
    let keys = (0..<40).map { "\"\($0)\": 1" }.joined(separator: ",")
    #expect(throws: Never.self) { try JSONReader.read("{\(keys)}".utf8) }
    for key in [0, 15, 16, 39] {
      #expect(throws: PlanError.self) { try JSONReader.read("{\(keys),\"\(key)\": 1}".utf8) }
    }
  }
}
