#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  @unsafe @preconcurrency internal import Glibc
#elseif canImport(Musl)
  @unsafe @preconcurrency internal import Musl
#elseif canImport(Android)
  @unsafe @preconcurrency internal import Android
#endif

/// The variables of this process, as the system keeps them.
///
/// As everywhere in C, no other thread may change them meanwhile.
enum EnvironmentOfThisProcess {
  typealias Pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  static func value(of name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// `NAME=value` for each variable, and a nil at the end.
  static var pointers: Pointers? {
    #if canImport(Darwin)
      unsafe _NSGetEnviron().pointee
    #else
      unsafe environ
    #endif
  }
}

extension ProcessEnvironment {
  /// False if a text contains a zero byte, or a name is impossible for a variable.
  var isPossible: Bool {
    changes.allSatisfy { name, value in
      !name.isEmpty && !name.utf8.contains(UInt8(ascii: "=")) && !name.utf8.contains(0)
        && !(value?.utf8.contains(0) ?? false)
    }
  }

  /// Calls `body` with the environment in the form in which the system takes it.
  func withPointers<Result>(_ body: (EnvironmentOfThisProcess.Pointers) -> Result) -> Result {
    let inherited = unsafe inherits ? EnvironmentOfThisProcess.pointers : nil
    if changes.isEmpty, let inherited = unsafe inherited { return unsafe body(inherited) }

    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
    if var next = unsafe inherited {
      while let variable = unsafe next.pointee {
        if unsafe !isChanged(variable) { unsafe pointers.append(variable) }
        unsafe next += 1
      }
    }
    let ours = unsafe changes.compactMap { name, value in
      unsafe value.map { unsafe strdup("\(name)=\($0)") }
    }
    defer { unsafe ours.forEach { unsafe free($0) } }
    unsafe pointers += ours
    unsafe pointers.append(nil)
    return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
      // There is always the terminating nil, so the buffer has a base address.
      unsafe body(buffer.baseAddress!)
    }
  }

  private func isChanged(_ variable: UnsafeMutablePointer<CChar>) -> Bool {
    guard let end = unsafe strchr(variable, Int32(UInt8(ascii: "="))) else { return false }
    let length = unsafe end - variable
    let bytes = unsafe UnsafeBufferPointer(start: variable, count: length)
    let name = unsafe String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return changes.keys.contains(name)
  }
}
