/// A value of a JSON text that remembers its line, so that every error about a plan can name it.
struct JSONValue {
  enum Content {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])
  }

  struct Member {
    let key: String
    let line: Int
    let value: JSONValue
  }

  let content: Content
  let line: Int

  /// Its kind in words, for sentences such as "… must be a text, not a number".
  var kind: String {
    switch content {
    case .null: "null"
    case .boolean: "true or false"
    case .number: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}
