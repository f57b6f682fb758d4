/// An object of a plan whose values are taken out by key and type, with a sentence when that fails.
struct PlanObject {
  private let members: [JSONValue.Member]
  private let owner: String
  private let line: Int

  init(
    _ members: [JSONValue.Member], of owner: String, line: Int, allowed: [String]
  ) throws(PlanError) {
    for member in members where !allowed.contains(member.key) {
      throw PlanError(
        .unknownKey(member.key, owner: owner, allowed: allowed), line: member.line)
    }
    self.members = members
    self.owner = owner
    self.line = line
  }

  func required(_ key: String) throws(PlanError) -> JSONValue {
    guard let value = value(key) else {
      throw PlanError(.missingKey(key, owner: owner), line: line)
    }
    return value
  }

  func text(_ key: String) throws(PlanError) -> String? {
    guard let value = value(key) else { return nil }
    return try text(value, key)
  }

  /// A text that is not blank.
  func text(_ value: JSONValue, _ key: String) throws(PlanError) -> String {
    guard case .string(let text) = value.content else {
      throw wrongType(key, expected: "a text", value)
    }
    guard !text.allSatisfy(\.isWhitespace) else {
      throw PlanError(.emptyText(key: key, owner: owner), line: value.line)
    }
    return text
  }

  /// A text or a list of texts.
  func texts(_ key: String) throws(PlanError) -> [String] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value.content else {
      guard case .string = value.content else {
        throw wrongType(key, expected: "a list of names", value)
      }
      return [try text(value, key)]
    }
    var texts: [String] = []
    for element in elements {
      guard case .string = element.content else {
        throw wrongType(key, expected: "a list of names", element)
      }
      texts.append(try text(element, key))
    }
    return texts
  }

  func textsByName(_ key: String) throws(PlanError) -> [String: String] {
    guard let value = value(key) else { return [:] }
    guard case .object(let members) = value.content else {
      throw wrongType(key, expected: "an object of texts", value)
    }
    var texts: [String: String] = [:]
    for member in members {
      guard case .string(let text) = member.value.content else {
        throw wrongType(key, expected: "an object of texts", member.value)
      }
      texts[member.key] = text
    }
    return texts
  }

  func number(_ key: String) throws(PlanError) -> (value: Double, line: Int)? {
    guard let value = value(key) else { return nil }
    guard case .number(let number) = value.content else {
      throw wrongType(key, expected: "a number of seconds", value)
    }
    return (number, value.line)
  }

  private func value(_ key: String) -> JSONValue? { members.first { $0.key == key }?.value }

  private func wrongType(_ key: String, expected: String, _ value: JSONValue) -> PlanError {
    PlanError(
      .wrongType(key: key, owner: owner, expected: expected, found: value.kind), line: value.line)
  }
}
