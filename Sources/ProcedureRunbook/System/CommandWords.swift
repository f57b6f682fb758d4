#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  @unsafe @preconcurrency import Glibc
#elseif canImport(Musl)
  @unsafe @preconcurrency import Musl
#endif

/// The command line of this process.
enum CommandWords {
  /// The words, with the name of the program. nil if they cannot be found: an empty list would mean
  /// something else.
  static var all: [String]? {
    let words = CommandLine.arguments
    // On Linux they are read from `/proc`, which a container may lack.
    return words.isEmpty ? onStack : words
  }

  /// Reads the words from the stack: below the variables are their number, a pointer to each, and a
  /// null.
  ///
  /// It must run early, while `environ` still points to the place where the system has put it.
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
