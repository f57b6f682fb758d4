/// A pattern of files: `*` stands for any part of a name, `**` for any number of folders, and
/// `{name}` in an `each` for a part that gets a name. Any other character stands for itself, and
/// `\*` for an asterisk.
///
/// It matches existing files, and files that steps of the plan will make.
struct FilePattern {
  enum Piece: Equatable {
    case text([UInt8])
    case any
    /// The named part, which is the same in all its places.
    case name
  }

  private enum Component {
    /// Written as `**`.
    case folders
    case name([Piece])

    /// The only name that matches, if there is one.
    var fixed: [UInt8]? {
      guard case .name(let pieces) = self else { return nil }
      var text: [UInt8] = []
      for piece in pieces {
        guard case .text(let part) = piece else { return nil }
        text += part
      }
      return text
    }
  }

  /// The pattern as the plan has it.
  let text: String
  private let isAbsolute: Bool
  /// The directory that the pattern is relative to; nil for the current directory, and for an
  /// absolute pattern.
  private let directory: FilePath?
  /// The components for finding existing files: a folder may be a link, behind which `..` leads
  /// elsewhere.
  private let components: [Component]
  /// The components without `..` behind a named folder, for comparing with the outputs of steps.
  private let shortest: [Component]
  /// The shortest path of the folder that has all matches.
  let folder: FilePath

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
  private static let asterisk = UInt8(ascii: "*")
  private static let backslash = UInt8(ascii: "\\")

  /// - Parameters:
  ///   - directory: the directory that the pattern is relative to; nil for the current directory.
  ///   - name: the name in braces that stands for a part.
  init(_ text: String, in directory: String?, naming name: String? = nil) {
    self.text = text
    let isFromRoot = text.utf8.first == Self.slash
    let directory = isFromRoot ? nil : directory.map { FilePath.normal($0, in: nil) }
    self.directory = directory
    isAbsolute = isFromRoot || directory?.isAbsolute ?? false
    let before = (directory?.bytes ?? []).split(separator: Self.slash)
    let written = Array(text.utf8).split(separator: Self.slash).filter { $0 != [Self.dot] }
    var components: [Component] =
      before.map { .name([.text(Array($0))]) }
      + written.map { part in
        part == [Self.asterisk, Self.asterisk]
          ? .folders : .name(Self.pieces(part, naming: name))
      }
    // A final `**` stands for the files in all those folders.
    if case .folders? = components.last { components.append(.name([.any])) }
    self.components = components
    shortest = Self.shortest(components, isAbsolute: isAbsolute)
    folder = Self.folder(of: shortest, isAbsolute: isAbsolute)
  }

  private static func shortest(_ components: [Component], isAbsolute: Bool) -> [Component] {
    let up = [dot, dot]
    var shortest: [Component] = []
    for component in components {
      if component.fixed == up, let last = shortest.last?.fixed, last != up {
        shortest.removeLast()
      } else if component.fixed != up || !isAbsolute || !shortest.isEmpty {
        shortest.append(component)
      }
    }
    return shortest
  }

  /// Whether a text is a pattern, and not the name of one file.
  static func isPattern(_ text: String) -> Bool {
    var last: UInt8 = 0
    for byte in text.utf8 {
      if byte == asterisk, last != backslash { return true }
      last = byte
    }
    return false
  }

  /// The name of the file that a text without a pattern stands for.
  static func literal(_ text: String) -> String {
    guard text.utf8.contains(asterisk) else { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte == asterisk, bytes.last == backslash { bytes.removeLast() }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text that stands for the file of this name, asterisks and all.
  static func text(ofName name: String) -> String {
    guard name.utf8.contains(asterisk) else { return name }
    return name.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == "*" { text.unicodeScalars.append("\\") }
      text.unicodeScalars.append(scalar)
    }
  }

  private static func pieces(_ component: ArraySlice<UInt8>, naming name: String?) -> [Piece] {
    let mark = name.map { Array("{\($0)}".utf8) }
    var pieces: [Piece] = []
    var text: [UInt8] = []
    func endText() {
      if !text.isEmpty { pieces.append(.text(text)) }
      text = []
    }
    var rest = component
    while let byte = rest.first {
      if let mark, rest.starts(with: mark) {
        endText()
        pieces.append(.name)
        rest = rest.dropFirst(mark.count)
      } else if byte == backslash, rest.dropFirst().first == asterisk {
        text.append(asterisk)
        rest = rest.dropFirst(2)
      } else if byte == asterisk {
        endText()
        if pieces.last != .any { pieces.append(.any) }
        rest = rest.dropFirst()
      } else {
        text.append(byte)
        rest = rest.dropFirst()
      }
    }
    endText()
    return pieces
  }

  private static func folder(of components: [Component], isAbsolute: Bool) -> FilePath {
    var folder = FilePath(isAbsolute ? [slash] : [])
    for component in components.dropLast() {
      guard let name = component.fixed else { break }
      folder = folder.appending(name)
    }
    return folder
  }

  /// Whether all matches are directly in `folder`.
  var isInOneFolder: Bool { shortest.dropLast().allSatisfy { $0.fixed != nil } }

  // MARK: Files that are there

  /// A file that matches, and the part that has the name; empty without a name.
  struct Match: Equatable {
    /// The path, which may not be UTF-8.
    let path: FilePath
    /// The named part, if the path is UTF-8.
    let value: String
  }

  /// Finds existing files, in the order of the bytes of their paths.
  func matches() -> [Match] {
    var found: [Match] = []
    let root = FilePath(isAbsolute ? [Self.slash] : [])
    var rest: [(path: FilePath, index: Int, value: [UInt8]?)] = [(root, 0, nil)]
    while let (path, index, value) = rest.popLast() {
      guard index < components.count else {
        found.append(Match(path: path, value: String(decoding: value ?? [], as: UTF8.self)))
        continue
      }
      let isLast = index == components.count - 1
      if let name = components[index].fixed {
        let next = path.appending(name)
        if !isLast || Self.kind(of: next) != nil { rest.append((next, index + 1, value)) }
        continue
      }
      let names = Directory.entries(in: path.length == 0 ? FilePath(".") : path) ?? []
      for name in names.map({ Array($0.bytes) }) where name.first != Self.dot {
        let next = path.appending(name)
        switch components[index] {
        case .folders:
          // `**` does not follow links, so that none leads in a circle.
          if Self.kind(of: next, followsLinks: false) == .folder {
            rest.append((next, index, value))
          }
        case .name(let pieces):
          for value in Self.values(of: name, pieces, value)
          where isLast || Self.kind(of: next) == .folder {
            rest.append((next, index + 1, value))
          }
        }
      }
      // `**` may stand for no folder at all.
      if case .folders = components[index] { rest.append((path, index + 1, value)) }
    }
    return found.sorted { $0.path < $1.path }
  }

  /// Returns nil if there is no such file.
  private static func kind(of path: FilePath, followsLinks: Bool = true) -> FileStatus.Kind? {
    (try? FileStatus(path, followsLinks: followsLinks))?.kind
  }

  /// Returns the path relative to the pattern's directory, if it is in there.
  func relative(_ path: FilePath) -> FilePath {
    directory.flatMap { path.name(in: $0) }.map { FilePath($0) } ?? path
  }

  // MARK: Files that steps make

  /// Returns the named part of a path; nil if the path does not match.
  func value(in path: FilePath) -> String? {
    guard path.isAbsolute == isAbsolute else { return nil }
    let names = path.shortest.bytes.split(separator: Self.slash).map { Array($0) }
    return values(names[...], shortest[...], nil).first.map {
      String(decoding: $0 ?? [], as: UTF8.self)
    }
  }

  private func values(
    _ names: ArraySlice<[UInt8]>, _ components: ArraySlice<Component>, _ value: [UInt8]?
  ) -> [[UInt8]?] {
    guard let component = components.first else { return names.isEmpty ? [value] : [] }
    switch component {
    case .folders:
      var result: [[UInt8]?] = []
      for count in 0...names.count {
        let skipped = names.prefix(count)
        if skipped.last?.first == Self.dot { break }
        result += values(names.dropFirst(count), components.dropFirst(), value)
      }
      return result
    case .name(let pieces):
      guard let name = names.first else { return [] }
      return Self.values(of: name, pieces, value).flatMap {
        values(names.dropFirst(), components.dropFirst(), $0)
      }
    }
  }

  // MARK: One name

  /// The values of the named part for all matches of a name; the shortest first for an asterisk.
  private static func values(
    of name: [UInt8], _ pieces: [Piece], _ value: [UInt8]?
  ) -> [[UInt8]?] {
    // A name that begins with a dot is hidden, unless the pattern begins with a dot.
    if name.first == dot, case .text? = pieces.first {
    } else if name.first == dot {
      return []
    }
    var result: [[UInt8]?] = []
    fit(name[...], pieces[...], value, &result)
    return result
  }

  private static func fit(
    _ name: ArraySlice<UInt8>, _ pieces: ArraySlice<Piece>, _ value: [UInt8]?,
    _ result: inout [[UInt8]?]
  ) {
    guard let piece = pieces.first else {
      // Only matches with different named parts count.
      if name.isEmpty, !result.contains(value) { result.append(value) }
      return
    }
    let others = pieces.dropFirst()
    switch piece {
    case .text(let text):
      if name.starts(with: text) { fit(name.dropFirst(text.count), others, value, &result) }
    case .name where value != nil:
      let known = value ?? []
      if name.starts(with: known) { fit(name.dropFirst(known.count), others, value, &result) }
    case .name:
      let least = 1
      guard name.count >= least else { return }
      // The next piece decides about the length; the last piece takes the whole rest.
      for count in others.isEmpty ? name.count...name.count : least...name.count {
        fit(name.dropFirst(count), others, Array(name.prefix(count)), &result)
      }
    case .any:
      for count in others.isEmpty ? name.count...name.count : 0...name.count {
        let before = result.count
        fit(name.dropFirst(count), others, value, &result)
        // Without a named part behind it, the first match is enough.
        if result.count > before, !others.contains(.name) { return }
      }
    }
  }
}
