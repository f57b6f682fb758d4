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

  static let mark: UInt = 1
  private static let noted: UInt = 8
  private static let flags: UInt = 15

  /// 0 for none.
  private(set) var bits: UInt = 0

  /// None.
  init() {}

  /// None, if the bits are not marked as those of one.
  init(bits: UInt) { self.bits = bits & Self.mark == 0 ? 0 : bits }

  /// As the one that waits has it. Nil if the rule does not fit in.
  @inline(__always)
  init?(toDependency other: Procedure, by rule: EdgeRule) {
    if case .handOver(let handOver) = rule {
      self.init(to: handOver, .handOver)
    } else {
      self.init(to: other, by: rule)
    }
  }

  /// As the one has it that is waited for. Nil if the rule does not fit in.
  @inline(__always)
  init?(toDependent other: Procedure, by rule: EdgeRule) {
    if case .handOver(let handOver) = rule {
      handOver.dependent = other
      self.init(to: handOver, .handOver)
    } else {
      self.init(to: other, by: rule)
    }
  }

  @inline(__always)
  private init?(to other: Procedure, by rule: EdgeRule) {
    switch rule {
    case .requirement(.any): self.init(to: other, .any)
    case .requirement(.success): self.init(to: other, .success)
    case .output: self.init(to: other, .output)
    case .requirement(.notCancelled), .requirement(.successOrIgnored), .handOver: return nil
    }
  }

  @inline(__always)
  private init(to object: AnyObject, _ rule: Rule) {
    bits =
      UInt(bitPattern: unsafe Unmanaged.passRetained(object).toOpaque()) | Self.mark
      | rule.rawValue << 1
  }

  var isEmpty: Bool { bits == 0 }

  // MARK: In the one that waits

  /// What it stands for, with a reference of its own; nil for none.
  var dependency: Edge? {
    guard let pointer = unsafe pointer else { return nil }
    if rule == .handOver {
      return unsafe Self.edge(Unmanaged<HandOver>.fromOpaque(pointer).takeUnretainedValue(), key)
    }
    return unsafe edge(Unmanaged<Procedure>.fromOpaque(pointer).takeUnretainedValue())
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

  /// Whether it is one to that procedure, which has not been noted there.
  func isUnnoted(to other: Procedure) -> Bool {
    if bits & Self.noted != 0 { return false }
    if rule == .handOver { return dependency?.other === other }
    return unsafe pointer == UnsafeRawPointer(Unmanaged.passUnretained(other).toOpaque())
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
