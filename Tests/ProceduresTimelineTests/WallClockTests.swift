import Foundation
import Procedures
import ProcedureTestSupport
import Testing

@testable import ProceduresTimeline

@Suite(.hangLimit) struct WallClockTests {
  @Test(
    "V3: a wall-clock time is written as ISO 8601 has it",
    arguments: [
      (0, "1970-01-01T00:00:00.000000000Z"), (-1, "1969-12-31T23:59:59.999999999Z"),
      (951_782_400_000_000_001, "2000-02-29T00:00:00.000000001Z"),
      (1_795_637_149_073_565_209, "2026-11-25T20:05:49.073565209Z"),
      (4_107_542_399_000_000_000, "2100-02-28T23:59:59.000000000Z"),
      (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z"),
      (.max, "2262-04-11T23:47:16.854775807Z"), (.min, "1677-09-21T00:12:43.145224192Z"),
    ] as [(Int64, String)])
  func text(nanoseconds: Int64, text: String) {
    #expect(WallClock.text(nanoseconds) == text)
  }

  @Test("V3: a wall-clock time is that of Foundation")
  func likeFoundation() throws {
    for day in stride(from: -100_000, to: 100_000, by: 97) as StrideTo<Int64> {
      let text = WallClock.text(day * 86_400_000_000_000 + 3_661_000_000_000)
      let date = Date(timeIntervalSince1970: Double(day * 86_400 + 3_661))
      #expect(text.prefix(19) + "Z" == date.formatted(.iso8601))
    }
    let now = Double(WallClock.now) / 1e9
    #expect(abs(now - Date().timeIntervalSince1970) < 60)
  }
}
