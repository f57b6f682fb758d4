/// The readable difference of two lists of lines: `-` was expected, `+` was seen instead.
struct LineDifference {
  let text: String

  /// Nil if the lists are equal.
  init?(expected: [String], seen: [String]) {
    guard expected != seen else { return nil }
    let changes = seen.difference(from: expected)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in changes {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var lines: [String] = []
    var (left, right) = (0, 0)
    while left < expected.count || right < seen.count {
      if left < expected.count, removed.contains(left) {
        lines.append("- " + expected[left])
        left += 1
      } else if right < seen.count, inserted.contains(right) {
        lines.append("+ " + seen[right])
        right += 1
      } else {
        lines.append("  " + expected[left])
        left += 1
        right += 1
      }
    }
    text = lines.joined(separator: "\n")
  }
}
