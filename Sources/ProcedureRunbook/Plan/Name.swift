/// The name of a step or a group. Two names are equal if their bytes are, since names of files are
/// made of them.
struct Name: Hashable, Comparable, Sendable, ExpressibleByStringInterpolation {
  let text: String

  init(_ text: String) { self.text = text }

  init(stringLiteral text: String) { self.init(text) }

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
