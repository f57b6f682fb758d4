#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The seconds that a processor has worked for this thread.
package func processorTime() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The seconds that a processor worked for this thread to run `body`: other threads, which it may
/// have to wait for, add nothing.
package func processorTime(_ body: () throws -> Void) rethrows -> Double {
  let start = processorTime()
  try body()
  return processorTime() - start
}

/// How many times as long the processor works for four times as many: about 4 if each costs the
/// same, 16 if each looks at all others. Of three tries the least, since what else the machine does
/// disturbs it.
package func growth(from count: Int, _ body: (_ count: Int) throws -> Void) rethrows -> Double {
  var least = Double.infinity
  for _ in 0..<3 where least > 8 {
    let small = try processorTime { try body(count) }
    least = min(least, try processorTime { try body(4 * count) } / small)
  }
  return least
}
