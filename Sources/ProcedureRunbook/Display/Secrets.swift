import ProceduresProcess

/// The values that the output of a run must not show.
struct Secrets: Sendable {
  /// Hiding a shorter value would hide half of the output.
  private static let shortest = 4
  private static let shortestLine = 8

  /// The longest come first, since one may be the beginning of another.
  fileprivate let values: [[UInt8]]
  /// Whether a secret begins with the byte of that index.
  fileprivate let beginnings: [Bool]

  static let none = Secrets(values: [])

  /// Reads the values that the plan's `secrets` have in its steps, and in this process.
  init(of plan: Plan) throws(PlanError) {
    var values: Set<String> = []
    for name in plan.secrets {
      let inherited = ProcessEnvironment.inherited[name]
      for value in Set(plan.steps.map { $0.environment[name] ?? inherited ?? "" })
      where !value.isEmpty {
        // A program may print the lines of a value one by one, or the value without its line end.
        let lines = value.filledLines
        let text = lines.last.map { value.unicodeScalars[lines[0].startIndex..<$0.endIndex] }
        let whole = text.map { String($0) } ?? ""
        guard whole.utf8.count >= Self.shortest else { throw PlanError(.shortSecret(name)) }
        values.insert(whole)
        values.formUnion(lines.map { String($0) }.filter { $0.utf8.count >= Self.shortestLine })
      }
    }
    self.init(values: values.map { Array($0.utf8) })
  }

  init(values: [[UInt8]]) {
    self.values = values.sorted { $0.count > $1.count }
    var beginnings = [Bool](repeating: false, count: 256)
    for value in values { beginnings[Int(value[0])] = true }
    self.beginnings = beginnings
  }

  var isEmpty: Bool { values.isEmpty }

  func hiding(_ text: String) -> String {
    guard !isEmpty else { return text }
    var filter = SecretFilter(self)
    return String(decoding: filter.take(text.utf8) + filter.end(), as: UTF8.self)
  }
}

/// Hides secrets in bytes that arrive in pieces: a possible beginning of a secret is kept back
/// until the next piece decides. Secrets that overlap are hidden together, by one mask.
struct SecretFilter: Sendable {
  private static let mask = Array("***".utf8)

  private let secrets: Secrets
  private var rest: [UInt8] = []
  /// How many bytes of `rest` belong to a secret that is hidden already.
  private var hiddenCount = 0

  init(_ secrets: Secrets) { self.secrets = secrets }

  /// The same filter, with nothing kept back.
  var anew: Self { Self(secrets) }

  /// Appends a piece to the bytes that were kept back, and returns what may be shown.
  mutating func take(_ bytes: some Collection<UInt8>) -> [UInt8] {
    filter(rest + bytes, isEnd: false)
  }

  /// Returns the bytes that were kept back, after the last piece.
  mutating func end() -> [UInt8] { filter(rest, isEnd: true) }

  private mutating func filter(_ bytes: [UInt8], isEnd: Bool) -> [UInt8] {
    // What is before `start` is shown or hidden.
    var (shown, start, position) = ([UInt8](), hiddenCount, 0)
    while position < bytes.count {
      guard secrets.beginnings[Int(bytes[position])] else {
        position += 1
        continue
      }
      let tail = bytes[position...]
      // 1. A longer secret may still follow: wait for it, even if a shorter one is complete.
      if !isEnd, secrets.values.contains(where: { $0.count > tail.count && $0.starts(with: tail) })
      {
        break
      }
      // 2. Hide a complete one. Another one may begin within it.
      if let secret = secrets.values.first(where: { tail.starts(with: $0) }) {
        if position >= start { shown += bytes[start..<position] + Self.mask }
        start = max(start, position + secret.count)
      }
      position += 1
    }
    if start < position { shown += bytes[start..<position] }
    hiddenCount = max(0, start - position)
    rest = Array(bytes[position...])
    return shown
  }
}
