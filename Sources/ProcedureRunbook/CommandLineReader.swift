/// Splits a command line: `--jobs 4`, `--jobs=4`, `-j 4`, `-j4`, `-kqj4`, and the words after `--`.
struct CommandLineReader {
  enum Word: Equatable {
    case option(String)
    case plain(String)
  }

  private var rest: ArraySlice<String>
  /// The option letters that follow the last one in the same word.
  private var letters: Substring = ""
  private var attachedValue: String?
  private var current = ""
  private var onlyPlain = false

  init(_ arguments: [String]) { rest = arguments[...] }

  /// Returns the next word; nil at the end. Read an option's value before you call it again.
  mutating func next() throws(UsageError) -> Word? {
    if let letter = letters.popFirst() { return option("-\(letter)") }
    guard let argument = rest.popFirst() else { return nil }
    guard argument.hasPrefix("-"), argument != "-", !onlyPlain else { return .plain(argument) }
    if argument == "--" {
      onlyPlain = true
      return try next()
    }
    if argument.hasPrefix("--") {
      let parts = argument.unicodeScalars.split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      attachedValue = parts.count > 1 ? String(parts[1]) : nil
      return option(String(parts[0]))
    }
    letters = argument.dropFirst()
    return option("-\(letters.removeFirst())")
  }

  private mutating func option(_ name: String) -> Word {
    current = name
    return .option(name)
  }

  /// Whether the same word has a value: `--keep-going=2`, `-k2`.
  var hasAttachedValue: Bool {
    attachedValue != nil || letters.first?.isWholeNumber == true
  }

  /// Returns `value` for an option that takes no value; throws if one is attached.
  mutating func flag<Value>(_ value: Value = true) throws(UsageError) -> Value {
    guard attachedValue == nil else {
      throw UsageError("'\(current)' takes no value; see 'runbook --help'")
    }
    return value
  }

  /// Returns the value, from the same word or the next one.
  mutating func value(_ expected: String) throws(UsageError) -> String {
    var text: String?
    if let attached = attachedValue {
      text = attached
      attachedValue = nil
    } else if !letters.isEmpty {
      text = String(letters.first == "=" ? letters.dropFirst() : letters)
      letters = ""
    } else {
      text = rest.popFirst()
    }
    guard let text, !text.isEmpty else { throw UsageError("'\(current)' needs \(expected)") }
    return text
  }

  mutating func number(_ expected: String) throws(UsageError) -> Int {
    let text = try value(expected)
    guard let number = Int(text), number > 0 else {
      throw UsageError("'\(current)' needs \(expected), not '\(text)'")
    }
    return number
  }

  mutating func choice(of names: [String]) throws(UsageError) -> String {
    let expected = "one of \(names.joined(separator: ", "))"
    let text = try value(expected)
    guard names.contains(text) else {
      throw UsageError("'\(current)' needs \(expected), not '\(text)'")
    }
    return text
  }

  /// Reads a number of bytes.
  mutating func size() throws(UsageError) -> Int {
    let expected = "a size such as '512M' or '8G'"
    let text = try value(expected)
    guard let size = MemorySize(text) else {
      throw UsageError("'\(current)' needs \(expected), not '\(text)'")
    }
    return size.bytes
  }

  mutating func seconds() throws(UsageError) -> Duration {
    let expected = "a number of seconds above 0"
    let text = try value(expected)
    guard let seconds = Double(text), seconds > 0, seconds <= 1e9 else {
      throw UsageError("'\(current)' needs \(expected), not '\(text)'")
    }
    return .seconds(seconds)
  }
}
