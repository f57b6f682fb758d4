/// What a step or a group is called. Two names are equal when their bytes are, as with files: names are made of theirs.
struct Name: Hashable, Comparable, Sendable, ExpressibleByStringInterpolation {
  let text: String

  init(_ text: String) { self.text = text }

  init(stringLiteral text: String) { self.init(text) }

  /// For a sentence.
  var visible: String { text.visible }
  var shortened: String { text.shortened }

  static func == (left: Self, right: Self) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
