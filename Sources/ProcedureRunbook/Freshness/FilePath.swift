#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The path of a file, as bytes. Two paths are equal if their bytes are.
///
/// A `String` would not do: strings with other bytes but the same letters are equal, and some names
/// of files are not valid strings.
struct FilePath: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")

  /// It ends with the zero byte that the system needs.
  private let terminated: [UInt8]

  init(_ bytes: some Collection<UInt8>) {
    var terminated: [UInt8] = []
    terminated.reserveCapacity(bytes.count + 1)
    terminated.append(contentsOf: bytes)
    terminated.append(0)
    self.terminated = terminated
  }

  init(_ text: String) { self.init(text.utf8) }

  init(stringLiteral text: String) { self.init(text) }

  var bytes: ArraySlice<UInt8> { terminated.dropLast() }
  var isAbsolute: Bool { terminated[0] == Self.slash }

  /// The path as text, as plans and commands need it; nil if it is not UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The path for a sentence: bytes that are not UTF-8 are shown as `\xff`.
  var visible: String {
    if let text { return text.visible }
    var text = ""
    var rest = bytes
    while !rest.isEmpty {
      // A character has at most four bytes.
      let character = (1...min(4, rest.count)).reversed().lazy
        .compactMap { count in
          String(validating: rest.prefix(count), as: UTF8.self).map { (count, $0) }
        }.first
      if let (count, known) = character {
        text += known
        rest = rest.dropFirst(count)
      } else {
        text += "\\x" + String(Int(rest.removeFirst()) + 0x100, radix: 16).dropFirst()
      }
    }
    return text.visible
  }

  func withPointer<Result, Failure: Error>(
    _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let result: Swift.Result<Result, Failure> = unsafe terminated.withUnsafeBytes { buffer in
      do throws(Failure) {
        guard let base = buffer.baseAddress else {
          preconditionFailure("Internal inconsistency: a path without its end")
        }
        return unsafe .success(try body(base.assumingMemoryBound(to: CChar.self)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  func appending(_ name: some Collection<UInt8>) -> Self {
    var path = Array(bytes)
    if path.last != Self.slash, !path.isEmpty { path.append(Self.slash) }
    path.append(contentsOf: name)
    return Self(path)
  }

  /// The folder above it. nil for the root and the empty path; empty for a file of the current
  /// directory.
  var folder: Self? {
    guard let slash = bytes.lastIndex(of: Self.slash) else {
      return bytes.isEmpty ? nil : Self([])
    }
    if slash > 0 { return Self(bytes[..<slash]) }
    return bytes.count == 1 ? nil : Self("/")
  }

  var length: Int { terminated.count - 1 }

  /// Whether it is in this folder, at any depth.
  func isBelow(_ folder: Self) -> Bool {
    let prefix = folder.bytes
    guard bytes.count > prefix.count, bytes.starts(with: prefix) else { return false }
    return prefix.last == Self.slash || bytes[prefix.count] == Self.slash
  }

  /// Its path relative to a folder that it is in; nil if it is in another one.
  func name(in folder: Self) -> ArraySlice<UInt8>? {
    guard isBelow(folder) else { return nil }
    let name = bytes.dropFirst(folder.length)
    return name.first == Self.slash ? name.dropFirst() : name
  }

  static func < (left: Self, right: Self) -> Bool {
    left.terminated.lexicographicallyPrecedes(right.terminated)
  }

  func hash(into hasher: inout Hasher) {
    unsafe terminated.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }

  // MARK: Spellings

  /// The path of `text` in a directory, without parts that change nothing: `a/./b`, `a//b`, `a/b/`.
  static func normal(_ text: String, in directory: String?) -> Self {
    var bytes: [UInt8] = []
    if let directory, text.utf8.first != slash {
      bytes.reserveCapacity(directory.utf8.count + text.utf8.count + 2)
      bytes.append(contentsOf: directory.utf8)
      bytes.append(slash)
    }
    bytes.append(contentsOf: text.utf8)
    return normal(bytes)
  }

  static func normal(_ bytes: [UInt8]) -> Self {
    guard !isNormal(bytes) else { return Self(bytes) }
    var normal: [UInt8] = []
    if bytes.first == slash { normal.append(slash) }
    for part in bytes.split(separator: slash) where part != [dot] {
      if let last = normal.last, last != slash { normal.append(slash) }
      normal.append(contentsOf: part)
    }
    return Self(normal)
  }

  /// Tested first, since most of many paths are normal.
  private static func isNormal(_ bytes: [UInt8]) -> Bool {
    var (last, isFirst) = (slash, true)
    for byte in bytes {
      // Only the first byte may be a slash after a slash.
      if last == slash, byte == slash && !isFirst || byte == dot { return false }
      (last, isFirst) = (byte, false)
    }
    return last != slash
  }

  /// Without `..` behind a named folder, so that one file has one name.
  var shortest: Self {
    var last: UInt8 = 0
    let hasDots = terminated.contains { byte in
      defer { last = byte }
      return byte == Self.dot && last == Self.dot
    }
    guard hasDots else { return self }
    let up = [Self.dot, Self.dot][...]
    var parts: [ArraySlice<UInt8>] = []
    for part in bytes.split(separator: Self.slash) {
      if part == up, let last = parts.last, last != up {
        parts.removeLast()
      } else if part != up || !isAbsolute {
        parts.append(part)
      }
    }
    let path = parts.joined(separator: [Self.slash])
    return Self((isAbsolute ? [Self.slash] : []) + Array(path))
  }

  /// With all links resolved; nil if there is no such file.
  var resolved: Self? {
    unsafe withPointer { path in
      guard let resolved = unsafe realpath(path, nil) else { return nil }
      defer { unsafe free(resolved) }
      return unsafe Self(cString: resolved)
    }
  }

  /// The text of the link at this path; nil if it is no link.
  var linkText: Self? {
    let text = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      let text = unsafe UnsafeMutableRawPointer(base).assumingMemoryBound(to: CChar.self)
      count = unsafe withPointer { unsafe readlink($0, text, 4096) }
      count = max(0, count)
    }
    return text.isEmpty ? nil : Self(text)
  }

  init(cString text: UnsafePointer<CChar>) {
    unsafe self.init(
      UnsafeRawBufferPointer(start: UnsafeRawPointer(text), count: strlen(text)))
  }
}
