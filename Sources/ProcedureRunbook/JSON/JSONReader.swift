/// Reads JSON by RFC 8259, with comments and trailing commas, and reports the position of errors.
///
/// Foundation's decoder is not used: it does not report the line of an error, not even of a syntax
/// error, and it accepts the same key twice. Time and memory are linear in the text, and no message
/// is longer than a line.
struct JSONReader {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lineStart = 0
  private var depth = 0
  private let longKey: String?
  /// Whether values are only checked: then no texts are made, except for keys.
  private var isChecking = false

  /// - Parameter longKey: the key of a list in the root whose elements are read later, one by one;
  ///   so are the elements of a root that is a list. With nil all is read now.
  static func read(
    _ bytes: some Sequence<UInt8>, longKey: String? = nil
  ) throws(PlanError) -> JSONValue {
    var reader = JSONReader(Array(bytes), longKey)
    if reader.bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      throw reader.failure(
        "the file begins with a byte order mark (BOM); save it as UTF-8 without one")
    }
    try reader.skipSpace()
    let value = try reader.value(isLong: longKey != nil)
    try reader.skipSpace()
    guard reader.peek == nil else { throw reader.unexpected("the end of the file") }
    return value
  }

  /// Reads nothing: for an empty list.
  init() { self.init([], nil) }

  private init(_ bytes: [UInt8], _ longKey: String?) {
    self.bytes = bytes
    self.longKey = longKey
  }

  /// Reads a value that was checked before.
  func value(at place: JSONList.Place) throws(PlanError) -> JSONValue {
    var reader = self
    (reader.position, reader.line) = (Int(place.position), Int(place.line))
    return try reader.value()
  }

  /// - Parameter isLong: whether the elements of a list are read later.
  private mutating func value(isLong: Bool = false) throws(PlanError) -> JSONValue {
    let line = line
    let content: JSONValue.Content
    switch peek {
    case "["? where isLong:
      let places = try nested { reader throws(PlanError) in try reader.places() }
      content = .list(JSONList(reader: self, places: places))
    case "{"?: content = .object(try nested { reader throws(PlanError) in try reader.members() })
    case "["?: content = .array(try nested { reader throws(PlanError) in try reader.elements() })
    case "\""?: content = .string(try string(isKept: !isChecking))
    case "-"?, ("0"..."9")?: content = .number(try number())
    case "t"?: content = try word("true", .boolean(true))
    case "f"?: content = try word("false", .boolean(false))
    case "n"?: content = try word("null", .null)
    default: throw unexpected("a value")
    }
    return JSONValue(content: content, line: line)
  }

  /// Limits the nesting, because every level is a call on the stack.
  private mutating func nested<Content>(
    _ body: (inout JSONReader) throws(PlanError) -> Content
  ) throws(PlanError) -> Content {
    guard depth < 100 else { throw failure("the values are nested too deep") }
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }

  private mutating func members() throws(PlanError) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    // The set is used only for large objects; most have few keys.
    var keys: Set<String> = []
    try readList(until: "}") { reader throws(PlanError) in
      guard reader.peek == "\"" else { throw reader.unexpected("a key in quotes") }
      let line = reader.line
      let key = try reader.string()
      if members.count == 16 { keys = Set(members.map(\.key)) }
      let isRepeated =
        members.count < 16
        ? members.contains { $0.key == key } : !keys.insert(key).inserted
      guard !isRepeated else { throw PlanError(.repeatedKey(key), line: line) }
      try reader.skipSpace()
      guard reader.take(":") else {
        throw reader.unexpected("':' after the key '\(key.shortened)'")
      }
      try reader.skipSpace()
      let isLong = reader.depth == 1 && key == reader.longKey
      members.append(
        JSONValue.Member(key: key, line: line, value: try reader.value(isLong: isLong)))
    }
    return members
  }

  private mutating func elements() throws(PlanError) -> [JSONValue] {
    var elements: [JSONValue] = []
    try readList(until: "]") { reader throws(PlanError) in elements.append(try reader.value()) }
    return elements
  }

  /// Checks the elements, and keeps only their places.
  private mutating func places() throws(PlanError) -> [JSONList.Place] {
    var places: [JSONList.Place] = []
    isChecking = true
    defer { isChecking = false }
    try readList(until: "]") { reader throws(PlanError) in
      places.append(JSONList.Place(position: UInt32(reader.position), line: UInt32(reader.line)))
      _ = try reader.value()
    }
    return places
  }

  /// Reads values between brackets, with commas between, and perhaps one at the end.
  private mutating func readList(
    until end: UnicodeScalar, _ readOne: (inout JSONReader) throws(PlanError) -> Void
  ) throws(PlanError) {
    position += 1
    try skipSpace()
    while !take(end) {
      try readOne(&self)
      try skipSpace()
      guard take(",") else {
        guard take(end) else { throw unexpected("',' or '\(end)'") }
        return
      }
      try skipSpace()
    }
  }

  private mutating func string(isKept: Bool = true) throws(PlanError) -> String {
    position += 1
    // The text up to the last escape.
    var text: [UInt8] = []
    var start = position
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        // Most texts have no escape, and need no copy.
        let string =
          text.isEmpty
          ? Self.string(bytes[start..<position], isKept)
          : Self.string((text + bytes[start..<position])[...], isKept)
        position += 1
        guard let string else { throw failure("a text is not UTF-8") }
        return string
      case UInt8(ascii: "\\"):
        text += bytes[start..<position]
        position += 1
        text += try escape().utf8
        start = position
      case ..<0x20:
        throw failure("a text does not end on its line, or contains a control character")
      default:
        position += 1
      }
    }
    throw unexpected("'\"' at the end of a text")
  }

  /// Returns nil if the bytes are not UTF-8.
  private static func string(_ bytes: ArraySlice<UInt8>, _ isKept: Bool) -> String? {
    // Most texts are ASCII and need no validation, which takes the most time.
    guard bytes.contains(where: { $0 > 0x7F }) else {
      return isKept ? String(decoding: bytes, as: UTF8.self) : ""
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private mutating func escape() throws(PlanError) -> String {
    guard let character = peek else { throw unexpected("a character after '\\'") }
    position += 1
    switch character {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "\"", "\\", "/":
      return String(character)
    case "u":
      var units = [try codeUnit()]
      if UTF16.isLeadSurrogate(units[0]), take("\\"), take("u") { units.append(try codeUnit()) }
      guard let text = String(validating: units, as: UTF16.self) else {
        throw failure("'\\u' is followed by half a character")
      }
      return text
    default:
      position -= 1
      throw failure("'\\\(character)' is not an escape of JSON")
    }
  }

  private mutating func codeUnit() throws(PlanError) -> UInt16 {
    let digits = bytes[position...].prefix(4)
    guard digits.count == 4, digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw failure("'\\u' must be followed by four hexadecimal digits") }
    position += 4
    return unit
  }

  private mutating func number() throws(PlanError) -> Double {
    let start = position
    while let character = peek,
      character.properties.isASCIIHexDigit || "+-.".unicodeScalars.contains(character)
    {
      position += 1
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard Self.isNumber(bytes[start..<position]), let number = Double(text) else {
      position = start
      throw failure("'\(text.shortened)' is not a number of JSON")
    }
    guard number.isFinite else {
      position = start
      throw failure("'\(text.shortened)' is too large a number")
    }
    return number
  }

  /// Matches `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`, in linear time.
  private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    func skip(_ characters: String) -> Bool {
      guard let byte = rest.first, characters.utf8.contains(byte) else { return false }
      rest.removeFirst()
      return true
    }
    func skipDigits() -> Int {
      let count = rest.prefix { (0x30...0x39).contains($0) }.count
      rest = rest.dropFirst(count)
      return count
    }
    _ = skip("-")
    if !skip("0"), skipDigits() == 0 { return false }
    if skip("."), skipDigits() == 0 { return false }
    if skip("eE") {
      _ = skip("+-")
      if skipDigits() == 0 { return false }
    }
    return rest.isEmpty
  }

  private mutating func word(
    _ word: String, _ content: JSONValue.Content
  ) throws(PlanError) -> JSONValue.Content {
    guard bytes[position...].starts(with: word.utf8) else { throw unexpected("a value") }
    position += word.utf8.count
    return content
  }

  // MARK: Bytes

  /// The next byte, as a scalar so that it can be compared with literals.
  private var peek: UnicodeScalar? {
    position < bytes.count ? UnicodeScalar(bytes[position]) : nil
  }

  private mutating func take(_ character: UnicodeScalar) -> Bool {
    guard peek == character else { return false }
    position += 1
    return true
  }

  /// Skips space and comments: `// …` to the end of the line, and `/* … */`.
  private mutating func skipSpace() throws(PlanError) {
    while let character = peek {
      switch character {
      case " ", "\t", "\r": position += 1
      case "\n": nextLine()
      case "/": try skipComment()
      default: return
      }
    }
  }

  private mutating func nextLine() {
    position += 1
    line += 1
    lineStart = position
  }

  private mutating func skipComment() throws(PlanError) {
    switch position + 1 < bytes.count ? bytes[position + 1] : 0 {
    case UInt8(ascii: "/"):
      while let character = peek, character != "\n" { position += 1 }
    case UInt8(ascii: "*"):
      let start = self
      position += 2
      while !bytes[position...].starts(with: "*/".utf8) {
        guard let character = peek else { throw start.failure("a comment does not end") }
        if character == "\n" { nextLine() } else { position += 1 }
      }
      position += 2
    default:
      throw unexpected("a value or a comment")
    }
  }

  private func unexpected(_ expected: String) -> PlanError {
    guard peek != nil else { return failure("expected \(expected), but the file ends here") }
    let rest = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
    return failure("expected \(expected), found '\(rest.prefix(1))'")
  }

  private func failure(_ problem: String) -> PlanError {
    let column = String(decoding: bytes[lineStart..<position], as: UTF8.self).count + 1
    return PlanError(.syntax(problem, column: column), line: line)
  }
}
