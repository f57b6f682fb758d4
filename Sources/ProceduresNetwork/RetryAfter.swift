internal import Foundation

/// Parses a `Retry-After` header: a number of seconds, or a date.
enum RetryAfter {
  /// - Parameter date: the `Date` of the same response.
  static func duration(_ text: String, date: String?) -> Duration? {
    let text = text.trimmingCharacters(in: .whitespaces)
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number that overflows means forever.
      return .seconds(Int64(text) ?? Int64.max)
    }
    guard let end = secondsSince1970(text) else { return nil }
    let now = date.flatMap(secondsSince1970) ?? Int64(Date().timeIntervalSince1970)
    return .seconds(max(0, end - now))
  }

  /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers send today.
  ///
  /// It does not use a `DateFormatter`, which depends on locale data, for a format that never
  /// changes.
  static func secondsSince1970(_ text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT" || words[5] == "UTC",
      let day = number(words[1], in: 1...31),
      let month = months.firstIndex(of: String(words[2])),
      let year = number(words[3], in: 1601...9999)
    else { return nil }
    let time = words[4].split(separator: ":")
    guard time.count == 3, let hour = number(time[0], in: 0...23),
      let minute = number(time[1], in: 0...59), let second = number(time[2], in: 0...60)
    else { return nil }
    return days(year, month + 1, day) * 86_400 + hour * 3_600 + minute * 60 + second
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func number(_ text: Substring, in range: ClosedRange<Int64>) -> Int64? {
    guard let number = Int64(text), range.contains(number) else { return nil }
    return number
  }

  /// The days since 1970-01-01, computed with years that begin in March, so that a leap day is
  /// last.
  private static func days(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
    let shifted = year - (month <= 2 ? 1 : 0)
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let monthFromMarch = Int64((month + 9) % 12)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
