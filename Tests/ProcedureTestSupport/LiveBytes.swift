#if canImport(Glibc)
  internal import Glibc

  /// What `malloc` has given out and not got back, in the whole process.
  ///
  /// Other tests allocate at the same time: measure in an exit test, which has a process to itself.
  package enum LiveBytes {
    package static var now: Int {
      var text: UnsafeMutablePointer<CChar>?
      var size = 0
      guard let stream = unsafe open_memstream(&text, &size) else { return 0 }
      _ = unsafe mallocInformation(0, stream)
      _ = unsafe fclose(stream)
      defer { unsafe free(text) }
      guard let text = unsafe text else { return 0 }
      return unsafe live(in: String(cString: text))
    }

    /// By how much `body` made the process's live bytes grow.
    package static func growth(_ body: () -> Void) -> Int {
      let before = now
      body()
      return now - before
    }

    /// How large a block is that malloc gives for such an object, as far as it can be used: the
    /// smallest of several, since malloc may give one that is a little too large.
    package static func usable(by make: @autoclosure () -> AnyObject) -> Int {
      let objects = (0..<64).map { _ in make() }
      return objects.map { unsafe usableSize(Unmanaged.passUnretained($0).toOpaque()) }.min() ?? 0
    }

    /// From the totals at the end of malloc's own report: what it got from the system, less what it
    /// holds in its free lists, and what it mapped for large blocks.
    private static func live(in report: String) -> Int {
      var totals: [Substring: Int] = [:]
      for line in report.split(separator: "\n") {
        // <total type="rest" count="1" size="29600"/>: the last of each name is that of all heaps.
        let words = line.split(separator: "\"")
        guard words.count >= 4, let size = Int(words[words.count - 2]) else { continue }
        totals[words[0] + words[1]] = size
      }
      func total(_ name: Substring) -> Int { totals[name] ?? 0 }
      return total("<system type=current") + total("<total type=mmap")
        - total("<total type=fast") - total("<total type=rest")
    }
  }

  // Not in the module of the C library. Integers and pointers are passed as in C.
  @_silgen_name("malloc_info")
  private func mallocInformation(_ options: CInt, _ stream: UnsafeMutablePointer<FILE>) -> CInt

  @_silgen_name("malloc_usable_size")
  private func usableSize(_ block: UnsafeMutableRawPointer) -> Int
#endif
