import ProceduresProcess

/// The values that no output of a run shows.
struct Secrets: Sendable {
  /// A shorter one would hide half of the output.
  private static let shortest = 4
  private static let shortestLine = 8

  /// The longest first: one may begin as another does.
  fileprivate let values: [[UInt8]]
  /// By their first bytes: whether one begins so.
  fileprivate let beginnings: [Bool]

  static let none = Secrets(values: [])

  /// The values that the plan's steps have for its `secrets`, and this process.
  init(of plan: Plan) throws(PlanError) {
    var values: Set<String> = []
    for name in plan.secrets {
      let inherited = ProcessEnvironment.inherited[name]
      for value in Set(plan.steps.map { $0.environment[name] ?? inherited ?? "" })
      where !value.isEmpty {
        guard value.utf8.count >= Self.shortest else { throw PlanError(.shortSecret(name)) }
        values.insert(value)
        // A program may show them one by one.
        let lines = value.split(separator: "\n").map(String.init)
        values.formUnion(lines.filter { $0.utf8.count >= Self.shortestLine })
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
}

/// Hides secrets in bytes that come in pieces: what may be the beginning of one is kept back until it is known.
struct SecretFilter: Sendable {
  private static let mask = Array("***".utf8)

  private let secrets: Secrets
  private var rest: [UInt8] = []

  init(_ secrets: Secrets) { self.secrets = secrets }

  /// The same, with nothing kept back.
  var anew: Self { Self(secrets) }

  /// The next piece, behind what was kept back, as it may be shown.
  mutating func take(_ bytes: some Collection<UInt8>) -> [UInt8] {
    filter(rest + bytes, isEnd: false)
  }

  /// There is no more: what was kept back is no secret.
  mutating func end() -> [UInt8] { filter(rest, isEnd: true) }

  private mutating func filter(_ bytes: [UInt8], isEnd: Bool) -> [UInt8] {
    rest = []
    var (shown, start, position) = ([UInt8](), 0, 0)
    while position < bytes.count {
      guard secrets.beginnings[Int(bytes[position])] else {
        position += 1
        continue
      }
      let tail = bytes[position...]
      // 1. A longer one that may still come is waited for, also where a shorter one is complete.
      if !isEnd, secrets.values.contains(where: { $0.count > tail.count && $0.starts(with: tail) })
      {
        break
      }
      // 2. A complete one is hidden.
      if let secret = secrets.values.first(where: { tail.starts(with: $0) }) {
        shown += bytes[start..<position] + Self.mask
        position += secret.count
        start = position
      } else {
        position += 1
      }
    }
    rest = Array(bytes[position...])
    return shown + bytes[start..<position]
  }
}
