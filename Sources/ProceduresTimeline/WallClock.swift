#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Reads the wall clock without Foundation.
enum WallClock {
  /// The time in nanoseconds since 1970.
  static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Returns it in the format of ISO 8601: `2026-11-25T20:01:00.250000000Z`.
  static func text(_ nanoseconds: Int64) -> String {
    let second: Int64 = 1_000_000_000
    let (seconds, rest) = floored(nanoseconds, by: second)
    let (days, time) = floored(seconds, by: 86_400)
    let (year, month, day) = date(after: days)
    let fields = [time / 3_600, time / 60 % 60, time % 60].map { padded($0, to: 2) }
    return "\(padded(year, to: 4))-\(padded(month, to: 2))-\(padded(day, to: 2))"
      + "T\(fields.joined(separator: ":")).\(padded(rest, to: 9))Z"
  }

  /// Returns the date that many days after 1970-01-01.
  private static func date(after days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // 1. Count whole periods of 400 years, in which the calendar repeats.
    let (periods, remaining) = floored(days, by: 146_097)
    var (year, rest) = (1970 + 400 * periods, remaining)
    // 2. Count years, then months: at most 400 and 12 steps.
    while rest >= (isLeap(year) ? 366 : 365) {
      rest -= isLeap(year) ? 366 : 365
      year += 1
    }
    var month = 0
    let months: [Int64] = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    while rest >= months[month] {
      rest -= months[month]
      month += 1
    }
    return (year, Int64(month) + 1, rest + 1)
  }

  private static func isLeap(_ year: Int64) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  /// Returns a quotient that is rounded down, and the remainder, which is never negative.
  private static func floored(_ number: Int64, by divisor: Int64) -> (Int64, rest: Int64) {
    let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }

  private static func padded(_ number: Int64, to digits: Int) -> String {
    NumberText.padded(String(number), to: digits)
  }
}
