/// A value of a JSON text with its line, so that every error about a plan can name the line.
struct JSONValue {
  enum Content {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// A list that is too long to be kept in memory.
    case list(JSONList)
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
    case .array, .list: "a list"
    case .object: "an object"
    }
  }
}

/// A valid list whose elements are read from the text one by one, when they are needed.
struct JSONList {
  /// The place of an element in the text.
  struct Place {
    let position: UInt32
    let line: UInt32
  }

  private let reader: JSONReader
  private let places: [Place]

  static let empty = JSONList(reader: JSONReader(), places: [])

  init(reader: JSONReader, places: [Place]) { (self.reader, self.places) = (reader, places) }

  var count: Int { places.count }

  func element(_ index: Int) throws(PlanError) -> JSONValue { try reader.value(at: places[index]) }
}
