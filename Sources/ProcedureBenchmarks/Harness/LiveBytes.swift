#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#endif

/// The bytes that `malloc` has handed out and not got back, in the whole process.
enum LiveBytes {
  #if canImport(Darwin)
    static let isKnown = true
    static var now: Int { Int(mstats().bytes_used) }
  #elseif canImport(Glibc)
    static let isKnown = true

    /// Computed from the totals at the end of malloc's own report: the bytes from the system and
    /// the bytes mapped for large blocks, without those in its free lists.
    static var now: Int {
      var text: UnsafeMutablePointer<CChar>?
      var size = 0
      guard let stream = unsafe open_memstream(&text, &size) else { return 0 }
      _ = unsafe mallocInformation(0, stream)
      _ = unsafe fclose(stream)
      defer { unsafe free(text) }
      guard let text = unsafe text else { return 0 }
      var totals: [Substring: Int] = [:]
      for line in unsafe String(cString: text).split(separator: "\n") {
        // <total type="rest" count="1" size="29600"/>: the last line of each name has the total of
        // all heaps.
        let words = line.split(separator: "\"")
        guard words.count >= 4, let size = Int(words[words.count - 2]) else { continue }
        totals[words[0] + words[1]] = size
      }
      func total(_ name: Substring) -> Int { totals[name] ?? 0 }
      return total("<system type=current") + total("<total type=mmap")
        - total("<total type=fast") - total("<total type=rest")
    }
  #else
    static let isKnown = false
    static var now: Int { 0 }
  #endif

  /// The growth of the live bytes while `make` makes `count` items, divided by `count`.
  static func each<Things>(of count: Int, _ make: () async -> Things) async -> Double {
    let before = now
    let things = await make()
    let after = now
    blackHole(things)
    return Double(after - before) / Double(count)
  }
}

#if canImport(Glibc)
  /// The C library's module does not declare it. Integers and pointers are passed as in C.
  @_silgen_name("malloc_info")
  private func mallocInformation(_ options: CInt, _ stream: UnsafeMutablePointer<FILE>) -> CInt
#endif
