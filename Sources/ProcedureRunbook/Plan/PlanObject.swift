import ProceduresProcess

/// An object of a plan. It returns values by key and type, and throws an error with a sentence.
struct PlanObject {
  /// The owner of the object. Its text is only made for a mistake.
  enum Owner {
    case plan
    case defaults
    case step(number: Int, name: String?)

    var text: String {
      switch self {
      case .plan: "the plan"
      case .defaults: "'defaults'"
      case .step(_, let name?): "step '\(name)'"
      case .step(let number, nil): "step \(number)"
      }
    }
  }

  private let members: [JSONValue.Member]
  private let ownerOfAll: Owner
  private let line: Int

  private var owner: String { ownerOfAll.text }

  init(
    _ members: [JSONValue.Member], of owner: Owner, line: Int, allowed: [String]
  ) throws(PlanError) {
    for member in members where !allowed.contains(member.key) {
      throw PlanError(
        .unknownKey(member.key, owner: owner.text, allowed: allowed), line: member.line)
    }
    self.members = members
    ownerOfAll = owner
    self.line = line
  }

  func required(_ key: String) throws(PlanError) -> JSONValue {
    guard let value = value(key) else {
      throw PlanError(.missingKey(key, owner: owner), line: line)
    }
    return value
  }

  // MARK: Texts

  func text(_ key: String) throws(PlanError) -> String? {
    guard let value = value(key) else { return nil }
    return try text(value, key)
  }

  /// Returns the text if it is not blank.
  func text(_ value: JSONValue, _ key: String) throws(PlanError) -> String {
    guard case .string(let text) = value.content else {
      throw wrongType(key, expected: "a text", value)
    }
    guard !Self.isBlank(text) else {
      throw PlanError(.emptyText(key: key, owner: owner), line: value.line)
    }
    return text
  }

  private static func isBlank(_ text: String) -> Bool {
    // Most texts begin with a visible ASCII character, and reading characters is slow.
    if let first = text.utf8.first, (0x21..<0x7F).contains(first) { return false }
    return text.allSatisfy(\.isWhitespace)
  }

  /// Returns a text or a list of texts as a list.
  func texts(_ key: String, expected: String = "a list of names") throws(PlanError) -> [String] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value.content else {
      guard case .string = value.content else { throw wrongType(key, expected: expected, value) }
      return [try text(value, key)]
    }
    var texts: [String] = []
    for element in elements {
      guard case .string = element.content else {
        throw wrongType(key, expected: expected, element)
      }
      texts.append(try text(element, key))
    }
    return texts
  }

  /// Returns a text that can be passed to a program, so it has no zero byte.
  func argument(_ key: String) throws(PlanError) -> String? {
    guard let text = try text(key) else { return nil }
    try checkArgument(text, key)
    return text
  }

  func arguments(_ key: String) throws(PlanError) -> [String] {
    let texts = try texts(key, expected: "a list of paths")
    for text in texts { try checkArgument(text, key) }
    return texts
  }

  /// Returns a command, or the lines of a list, and whether it is a list.
  func script(_ key: String) throws(PlanError) -> (text: String, isList: Bool) {
    let value = try required(key)
    guard case .array(let elements) = value.content else {
      let text = try text(value, key)
      try checkArgument(text, key)
      return (text, false)
    }
    var lines: [String] = []
    for element in elements {
      guard case .string(let line) = element.content else {
        throw wrongType(key, expected: "a list of lines", element)
      }
      lines.append(line)
    }
    let text = lines.joined(separator: "\n")
    guard !Self.isBlank(text) else {
      throw PlanError(.emptyText(key: key, owner: owner), line: value.line)
    }
    try checkArgument(text, key)
    return (text, true)
  }

  /// Throws for a text that the system cannot pass to a program.
  private func checkArgument(_ text: String, _ key: String) throws(PlanError) {
    if text.utf8.contains(0) {
      throw PlanError(.zeroByte(key: key, owner: owner), line: line(of: key))
    }
    if text.utf8.count >= Step.longestArgument {
      throw PlanError(
        .tooLong(key: key, owner: owner, bytes: text.utf8.count), line: line(of: key))
    }
  }

  // MARK: Objects

  func object(
    _ key: String, of owner: Owner, allowed: [String]
  ) throws(PlanError) -> PlanObject? {
    guard let value = value(key) else { return nil }
    guard case .object(let members) = value.content else {
      throw wrongType(key, expected: "an object", value)
    }
    return try PlanObject(members, of: owner, line: value.line, allowed: allowed)
  }

  func variables(_ key: String) throws(PlanError) -> [String] {
    let names = try texts(key)
    if let name = names.first(where: { !Options.isVariable($0) }) {
      throw PlanError(.badName(name, key: key, owner: owner), line: line(of: key))
    }
    return names
  }

  func dotenv(_ file: String, in directory: String?) throws(PlanError) -> [String: String] {
    let path = Directory.path(file, in: directory)
    do throws(PlanError) {
      let bytes = try InputFile(path).contents()
      do throws(DotenvFile.BadLine) {
        return try DotenvFile(bytes).variables
      } catch {
        throw PlanError(.badDotenv(file, line: error.line))
      }
    } catch {
      var problem = error.problem
      if case .unreadable(let reason) = problem {
        problem = .unreadableDotenv(owner: owner, reason: reason)
      }
      throw PlanError(problem, line: line(of: "dotenv"))
    }
  }

  func environment(_ key: String) throws(PlanError) -> [String: String] {
    var variables: [String: String] = [:]
    for member in try members(key, expected: "an object of texts") {
      guard case .string(let text) = member.value.content else {
        throw wrongType(key, expected: "an object of texts", member.value)
      }
      let name = member.key
      guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")), !name.utf8.contains(0) else {
        throw PlanError(.badVariable(name, owner: owner), line: member.line)
      }
      guard !text.utf8.contains(0) else {
        throw PlanError(.zeroByte(key: name, owner: owner), line: member.value.line)
      }
      guard name.utf8.count + text.utf8.count + 1 < Step.longestArgument else {
        throw PlanError(
          .tooLong(key: name, owner: owner, bytes: text.utf8.count), line: member.value.line)
      }
      variables[name] = text
    }
    return variables
  }

  /// Reads values by name: a list of texts, or a pattern of files with the name in braces.
  func pattern(_ key: String, in directory: String?) throws(PlanError) -> StepPattern? {
    guard has(key) else { return nil }
    let names = try environmentNames(key)
    var lists: [(name: String, value: StepPattern.List)] = []
    for (name, member) in names {
      if case .string(let text) = member.content, text.utf8.contains("{\(name)}".utf8) {
        let pattern = FilePattern(text, in: directory, naming: name)
        guard !FilePattern.isPattern(text) else {
          throw PlanError(.asteriskInEach(text, name: name, owner: owner), line: member.line)
        }
        lists.append((name, .files(pattern)))
        continue
      }
      guard case .array(let elements) = member.content, !elements.isEmpty else {
        throw wrongType(
          name, expected: "a list of texts, or a pattern of files with '{\(name)}'", member)
      }
      var values: [String] = []
      for element in elements {
        guard case .string(let text) = element.content, !text.utf8.contains(0) else {
          throw wrongType(name, expected: "a list of texts", element)
        }
        values.append(text)
      }
      lists.append((name, .values(values)))
    }
    return StepPattern(lists: lists)
  }

  private func environmentNames(
    _ key: String
  ) throws(PlanError) -> [(name: String, value: JSONValue)] {
    var names: [(String, JSONValue)] = []
    for member in try members(key, expected: "an object of lists") {
      guard Options.isVariable(member.key) else {
        throw PlanError(.badName(member.key, key: key, owner: owner), line: member.line)
      }
      names.append((member.key, member.value))
    }
    return names
  }

  func numbersByName(_ key: String) throws(PlanError) -> [String: Int] {
    var numbers: [String: Int] = [:]
    for member in try members(key, expected: "an object of whole numbers") {
      numbers[member.key] = try wholeNumber(
        member.value, member.key, expected: "a whole number", least: 1)
    }
    return numbers
  }

  private func members(
    _ key: String, expected: String
  ) throws(PlanError) -> [JSONValue.Member] {
    guard let value = value(key) else { return [] }
    guard case .object(let members) = value.content else {
      throw wrongType(key, expected: expected, value)
    }
    return members
  }

  // MARK: Numbers

  func seconds(_ key: String) throws(PlanError) -> Duration? {
    guard let value = value(key) else { return nil }
    guard case .number(let number) = value.content else {
      throw wrongType(key, expected: "a number of seconds", value)
    }
    guard number > 0 else {
      throw PlanError(.negativeNumber(key: key, owner: owner), line: value.line)
    }
    return .seconds(min(number, 1e9))
  }

  func wholeNumber(_ key: String, least: Int) throws(PlanError) -> Int? {
    guard let value = value(key) else { return nil }
    return try wholeNumber(value, key, expected: "a whole number", least: least)
  }

  /// Reads numbers of bytes, such as `512M` or `1.5G`: one, or a list.
  func sizes(_ key: String) throws(PlanError) -> [Int] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value.content else { return [try size(value, key)] }
    var sizes: [Int] = []
    for element in elements { sizes.append(try size(element, key)) }
    guard !sizes.isEmpty else {
      throw PlanError(.emptyText(key: key, owner: owner), line: value.line)
    }
    return sizes
  }

  private func size(_ value: JSONValue, _ key: String) throws(PlanError) -> Int {
    let expected = "a size such as '512M' or '2G'"
    guard case .string(let text) = value.content else {
      throw wrongType(key, expected: expected, value)
    }
    guard let size = MemorySize(text) else {
      throw PlanError(
        .wrongType(
          key: key, owner: owner, expected: expected, found: "'\(text.visible.shortened)'"),
        line: value.line)
    }
    return size.bytes
  }

  private func wholeNumber(
    _ value: JSONValue, _ key: String, expected: String, least: Int
  ) throws(PlanError) -> Int {
    guard case .number(let number) = value.content else {
      throw wrongType(key, expected: expected, value)
    }
    guard let whole = Int(exactly: number), whole >= least else {
      throw PlanError(
        .wrongType(
          key: key, owner: owner, expected: "\(expected), \(least) or more", found: "\(number)"),
        line: value.line)
    }
    return whole
  }

  func boolean(_ key: String) throws(PlanError) -> Bool? {
    guard let value = value(key) else { return nil }
    guard case .boolean(let boolean) = value.content else {
      throw wrongType(key, expected: "true or false", value)
    }
    return boolean
  }

  func has(_ key: String) -> Bool { value(key) != nil }

  /// Whether it has no keys but these.
  func has(only keys: [String]) -> Bool { members.allSatisfy { keys.contains($0.key) } }

  func value(_ key: String) -> JSONValue? { members.first { $0.key == key }?.value }

  func line(of key: String) -> Int { value(key)?.line ?? line }

  /// Returns the first of these keys that it has.
  func first(of keys: [String]) -> String? { keys.first(where: has) }

  func error(_ problem: (_ owner: String) -> PlanError.Problem) -> PlanError {
    PlanError(problem(owner), line: line)
  }

  private func wrongType(_ key: String, expected: String, _ value: JSONValue) -> PlanError {
    PlanError(
      .wrongType(key: key, owner: owner, expected: expected, found: value.kind), line: value.line)
  }
}
