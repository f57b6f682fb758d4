#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  @unsafe @preconcurrency import Glibc
#elseif canImport(Musl)
  @unsafe @preconcurrency import Musl
#endif

/// The words that this process was started with.
enum CommandWords {
  /// With the name of the program. nil when they cannot be found: no words would mean something else.
  static var all: [String]? {
    let words = CommandLine.arguments
    // On Linux they are read from `/proc`, which a container may be without.
    return words.isEmpty ? onStack : words
  }

  /// The system lays the words out below the variables: their count, a pointer to each, and a null.
  ///
  /// The variables must still be where the system has put them, so this is called early.
  private static var onStack: [String]? {
    #if canImport(Darwin)
      return nil
    #else
      let found: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe environ
      guard let variables = unsafe found else { return nil }
      let cells = unsafe UnsafePointer<UInt>(OpaquePointer(variables))
      guard unsafe cells[-1] == 0 else { return nil }
      // No pointer is as small as a count.
      let count = (0..<1_000_000).first { unsafe cells[-2 - $0] == UInt($0) }
      guard let count, count > 0 else { return nil }
      return (0..<count).map { index in
        let word = unsafe variables[index - count - 1]
        return unsafe word.map { unsafe String(cString: $0) } ?? ""
      }
    #endif
  }
}
