/// One end of a dependency in one word, or none: so a chain needs no memory beside its procedures.
///
/// It owns its reference, counted by hand, until it is taken out. Guarded as an `Edge` is.
///
/// | bits   | meaning                                                                                  |
/// |--------|------------------------------------------------------------------------------------------|
/// | 0      | there is one                                                                             |
/// | 1, 2   | the rule                                                                                 |
/// | 3      | in the one that waits: it is the first dependent of the other, and kept there in one too |
/// | others | the address of the other procedure, or of the `HandOver`, which knows both               |
@safe struct PlainEdge: Sendable {
  private enum Rule: UInt {
    case any, success, output, handOver
  }

  private static let mark: UInt = 1
  private static let noted: UInt = 8
  private static let flags: UInt = 15

  /// 0 for none.
  private var bits: UInt = 0

  /// None.
  init() {}

  /// As the one that waits has it. Nil if the rule does not fit in.
  @inline(__always)
  init?(toDependency other: Procedure, by rule: EdgeRule) {
    guard let bits = Self.bits(to: other, by: rule) else { return nil }
    self.bits = bits
    if case .handOver(let handOver) = rule {
      _ = unsafe Unmanaged.passRetained(handOver)
    } else {
      _ = unsafe Unmanaged.passRetained(other)
    }
  }

  /// As the one has it that is waited for. Nil if the rule does not fit in.
  @inline(__always)
  init?(toDependent other: Procedure, by rule: EdgeRule) {
    self.init(toDependency: other, by: rule)
    if case .handOver(let handOver) = rule { handOver.dependent = other }
  }

  /// Nil if the rule does not fit in.
  @inline(__always)
  private static func bits(to other: Procedure, by rule: EdgeRule) -> UInt? {
    switch rule {
    case .requirement(.any): bits(of: other, .any)
    case .requirement(.success): bits(of: other, .success)
    case .output: bits(of: other, .output)
    case .handOver(let handOver): bits(of: handOver, .handOver)
    case .requirement(.notCancelled), .requirement(.successOrIgnored): nil
    }
  }

  @inline(__always)
  private static func bits(of object: AnyObject, _ rule: Rule) -> UInt {
    UInt(bitPattern: unsafe Unmanaged.passUnretained(object).toOpaque()) | mark | rule.rawValue << 1
  }

  var isEmpty: Bool { bits == 0 }

  // MARK: In the one that waits

  /// What it stands for, with a reference of its own; nil for none.
  var dependency: Edge? {
    @inline(__always) get {
      guard let pointer = unsafe pointer else { return nil }
      if rule == .handOver {
        return unsafe Self.edge(Unmanaged<HandOver>.fromOpaque(pointer).takeUnretainedValue(), key)
      }
      return unsafe edge(Unmanaged<Procedure>.fromOpaque(pointer).takeUnretainedValue())
    }
  }

  /// The same, which owns the reference from here on.
  @inline(__always)
  mutating func takeDependency() -> Edge? {
    guard let pointer = unsafe pointer else { return nil }
    defer { bits = 0 }
    if rule == .handOver {
      return unsafe Self.edge(Unmanaged<HandOver>.fromOpaque(pointer).takeRetainedValue(), key)
    }
    return unsafe edge(Unmanaged<Procedure>.fromOpaque(pointer).takeRetainedValue())
  }

  /// Whether it is that dependency, which has not been noted there.
  @inline(__always)
  func isUnnoted(to other: Procedure, by rule: EdgeRule) -> Bool {
    !isEmpty && bits == Self.bits(to: other, by: rule)
  }

  /// It is the first dependent of the other.
  mutating func note() { bits |= Self.noted }

  private var key: DependentList.Key? { bits & Self.noted == 0 ? nil : .near }

  private static func edge(_ handOver: HandOver, _ key: DependentList.Key?) -> Edge {
    Edge(other: handOver.dependency, rule: .handOver(handOver), key: key)
  }

  // MARK: In the one that is waited for

  /// The dependent, and the rule that it waits by.
  @inline(__always)
  mutating func takeDependent() -> Edge? {
    guard let pointer = unsafe pointer else { return nil }
    defer { bits = 0 }
    if rule == .handOver {
      let handOver = unsafe Unmanaged<HandOver>.fromOpaque(pointer).takeRetainedValue()
      return handOver.dependent.take().map { Edge(other: $0, rule: .handOver(handOver)) }
    }
    return unsafe edge(Unmanaged<Procedure>.fromOpaque(pointer).takeRetainedValue())
  }

  // MARK: What the bits say

  private var pointer: UnsafeRawPointer? {
    @inline(__always) get { unsafe UnsafeRawPointer(bitPattern: bits & ~Self.flags) }
  }

  private var rule: Rule {
    @inline(__always) get {
      switch bits >> 1 & 3 {
      case 0: .any
      case 1: .success
      case 2: .output
      default: .handOver
      }
    }
  }

  @inline(__always)
  private func edge(_ other: Procedure) -> Edge {
    switch rule {
    case .any: Edge(other: other, rule: .requirement(.any), key: key)
    case .success: Edge(other: other, rule: .requirement(.success), key: key)
    case .output, .handOver: Edge(other: other, rule: .output, key: key)
    }
  }
}
