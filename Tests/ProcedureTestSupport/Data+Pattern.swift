package import Foundation

extension Data {
  /// `count` bytes in which no two pieces of a round size are the same: the pattern repeats after a
  /// prime number of bytes.
  ///
  /// - Parameter factor: data with another factor differ.
  package static func pattern(_ count: Int, factor: Int = 7) -> Data {
    let period = Data((0..<4_093).map { UInt8(truncatingIfNeeded: $0 &* factor >> 3) })
    var data = Data(capacity: count)
    while data.count < count { data.append(period.prefix(count - data.count)) }
    return data
  }
}
