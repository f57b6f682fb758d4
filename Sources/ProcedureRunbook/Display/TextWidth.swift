/// The number of columns that a text takes in a terminal.
///
/// It follows the rules of most terminals, scalar by scalar: East Asian wide characters and emoji
/// take two, combining characters take none. Where terminals disagree, as over joined emoji, it
/// takes the larger number, so that no line becomes too long.
extension Unicode.Scalar {
  var columns: Int {
    if value < 0x300 { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return properties.isEmojiPresentation || isWide ? 2 : 1
    }
  }

  /// East Asian Width `W` or `F`, in blocks: unassigned scalars in them do not matter.
  private var isWide: Bool {
    guard value >= 0x1100 else { return false }
    return Self.wide.contains { $0.contains(value) }
  }

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
    0x20000...0x3FFFD,
  ]
}

extension String {
  var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

  /// Appends spaces up to a number of columns.
  func rightPadded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - columns))
  }

  /// Prepends spaces up to a number of columns.
  func leftPadded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - columns)) + self
  }

  /// Cuts it to a number of columns, with an ellipsis in place of the rest.
  func cut(to width: Int) -> String {
    guard columns > width else { return self }
    guard width > 0 else { return "" }
    var rest = width - 1
    let kept = prefix { character in
      rest -= String(character).columns
      return rest >= 0
    }
    return kept + "…"
  }
}
