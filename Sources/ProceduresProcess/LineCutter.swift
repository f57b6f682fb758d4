#if os(macOS) || os(Linux)
  #if canImport(FoundationEssentials)
    package import FoundationEssentials
  #else
    package import Foundation
  #endif
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Cuts output into lines, without their line feeds. Lines are bytes: invalid text stays as it
  /// is.
  package struct LineCutter: Sendable {
    package typealias Line = ArraySlice<UInt8>

    package static let lineFeed = UInt8(ascii: "\n")

    private let longest: Int
    /// The beginning of a line that has no end yet.
    private var rest: [UInt8] = []

    /// - Parameter longest: a longer line is split into several, at the boundaries of characters.
    package init(longest: Int) { self.longest = longest }

    /// Takes a piece of output and returns the lines that it completes.
    package mutating func append(_ data: Data) -> [Line] {
      var lines: [Line] = []
      var bytes = (rest + data)[...]
      while let end = Self.index(of: Self.lineFeed, in: bytes) {
        lines.append(cut(bytes[..<end], &lines))
        bytes = bytes[(end + 1)...]
      }
      rest = Array(cut(bytes, &lines))
      return lines
    }

    /// The last line, if it has no line feed.
    package mutating func end() -> [Line] {
      defer { rest = [] }
      return rest.isEmpty ? [] : [rest[...]]
    }

    /// Splits a line that is too long. Returns the rest.
    private func cut(_ bytes: Line, _ lines: inout [Line]) -> Line {
      var bytes = bytes
      while bytes.count > longest {
        let limit = bytes.startIndex + longest
        var end = limit
        while end > limit - 4, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        // The bytes are not UTF-8.
        if bytes[end] & 0xC0 == 0x80 { end = limit }
        lines.append(bytes[..<end])
        bytes = bytes[end...]
      }
      return bytes
    }

    package static func contains(_ byte: UInt8, _ data: Data) -> Bool {
      unsafe data.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress else { return false }
        return unsafe memchr(start, Int32(byte), buffer.count) != nil
      }
    }

    package static func index(of byte: UInt8, in bytes: Line) -> Int? {
      unsafe bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress,
          let found = unsafe memchr(start, Int32(byte), buffer.count)
        else { return nil }
        return unsafe bytes.startIndex + (UnsafeRawPointer(found) - start)
      }
    }
  }
#endif
