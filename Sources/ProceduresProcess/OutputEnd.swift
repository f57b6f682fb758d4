#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The end of a program's output, as text of bounded length. It usually shows the errors.
package struct OutputEnd: Sendable {
  /// The longest text, in bytes.
  package static let length = 1_000

  /// The text without trailing white space; `…` stands for earlier output.
  let text: String

  /// The end of no output.
  package init() { text = "" }

  /// Keeps whole lines, if the last line is not longer than `length`.
  package init(of output: Data) {
    let isWhite: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) }
    let written = output.prefix(through: output.lastIndex { !isWhite($0) } ?? output.startIndex - 1)
    guard written.count > Self.length else {
      text = String(decoding: written, as: UTF8.self)
      return
    }
    var kept = written.suffix(Self.length)
    if let newline = kept.firstIndex(of: 0x0a) {
      kept = kept.suffix(from: newline + 1)
    } else {
      // Begin at the boundary of a character.
      kept = kept.drop { $0 & 0xc0 == 0x80 }
    }
    text = "…" + String(decoding: kept, as: UTF8.self)
  }
}
