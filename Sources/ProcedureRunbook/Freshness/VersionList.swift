/// Numbers of versions of files, in order. Consecutive numbers form a run: files that were first
/// seen together have such numbers.
///
/// ```
/// 4-403 17 9
/// ```
struct VersionList: Equatable, Sendable, Sequence {
  /// The first and the last number of each run.
  private var bounds: [Int32] = []

  init() {}

  init(_ numbers: some Sequence<Int32>) {
    for number in numbers { append(number) }
  }

  private mutating func append(_ number: Int32) {
    if let last = bounds.last, last + 1 == number {
      bounds[bounds.count - 1] = number
    } else {
      bounds.append(number)
      bounds.append(number)
    }
  }

  /// The runs, as closed ranges.
  var runs: some Sequence<ClosedRange<Int32>> {
    stride(from: 0, to: bounds.count, by: 2).lazy.map { bounds[$0]...bounds[$0 + 1] }
  }

  func makeIterator() -> AnyIterator<Int32> { AnyIterator(runs.joined().makeIterator()) }

  // MARK: Text

  /// Reads it from its text; nil if that is not valid.
  init?(_ text: ArraySlice<UInt8>) {
    var rest = text
    func number() -> Int32? {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard 1...9 ~= digits.count else { return nil }
      rest = rest[digits.endIndex...]
      return digits.reduce(0) { $0 * 10 + Int32($1 - 0x30) }
    }
    while !rest.isEmpty {
      if !bounds.isEmpty, rest.popFirst() != UInt8(ascii: " ") { return nil }
      guard let first = number() else { return nil }
      bounds.append(first)
      guard rest.first == UInt8(ascii: "-") else {
        bounds.append(first)
        continue
      }
      rest.removeFirst()
      guard let last = number(), last > first else { return nil }
      bounds.append(last)
    }
  }

  var text: String {
    runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
      .joined(separator: " ")
  }
}
