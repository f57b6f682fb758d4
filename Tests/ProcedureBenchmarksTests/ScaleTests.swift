import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import ProcedureBenchmarks

// In the same suite as the contests: the tally is that of the process.
extension ContestTests {
  @Test("each side does its work with one thread and with three", arguments: ScaleContest.all)
  func scaleWork(contest: ScaleContest) {
    // A side that leaves out an item stops the program.
    let rows = contest.run(threads: [1, 3], rounds: 1, divisor: 1_000)
    #expect(rows.map(\.threads) == contest.sides.map { _ in 1 } + contest.sides.map { _ in 3 })
    #expect(rows.map(\.side) == contest.sides.map(\.name) + contest.sides.map(\.name))
    for row in rows {
      #expect(row.throughput.isFinite && row.throughput > 0)
      #expect(row.threads == 3 || row.growth == 1)
      #expect((row.throughputRatio == nil) == (row.side == contest.ours.name))
    }
  }

  @Test("no two contests, and no two sides of one, have the same name")
  func scaleNames() {
    #expect(Set(ScaleContest.all.map(\.name)).count == ScaleContest.all.count)
    for contest in ScaleContest.all {
      #expect(Set(contest.sides.map(\.name)).count == contest.sides.count, "\(contest.name)")
    }
  }

  @Test("each thread of a crew works once, all before the end, and only their work is measured")
  func crew() {
    let numbers = Locked<[Int]>([])
    var atTheEnd: [Int] = []
    let (seconds, use) = Crew.measure(5, finish: { atTheEnd = numbers.withLock { $0 } }) { number in
      numbers.withLock { $0.append(number) }
    }
    #expect(atTheEnd.sorted() == [0, 1, 2, 3, 4])
    #expect(seconds > 0 && use.processorTime >= 0 && use.switches >= 0)
  }

  @Test("the items are shared among the threads")
  func shares() {
    let counts = Locked<[Int]>([])
    let side = ScaleSide(name: "side", items: 1_200, isTallied: false) { threads in
      ScaleWork(add: { _, count in counts.withLock { $0.append(count) } }, finish: {})
    }
    _ = side.sample(threads: 4, divisor: 3)
    #expect(counts.withLock { $0 } == [100, 100, 100, 100])
  }

  @Test("the processor time of a busy thread is counted")
  func processorTime() {
    let before = ProcessUse.now
    // Until the clock has moved on, which it does not while the process does nothing.
    while (ProcessUse.now - before).processorTime < 1e6 {}
    #expect((ProcessUse.now - before).processorTime >= 1e6)
  }
}

@Suite(.hangLimit) struct ScaleReportTests {
  private static func samples(_ throughputs: Double..., time: Double) -> [ScaleSample] {
    throughputs.map {
      ScaleSample(
        throughput: $0, processorTime: time, switches: 0.5, waits: 0.25, failures: 0.125)
    }
  }

  /// Ours did 100 items alone and 300 with four threads, the peer 200 and 150.
  private let rows = [
    ScaleRow(
      contest: "work", side: "procedures", threads: 4, samples: samples(300, 330, time: 40),
      alone: samples(100, 100, time: 20), ours: nil),
    ScaleRow(
      contest: "work", side: "peer", threads: 4, samples: samples(150, 150, time: 80),
      alone: samples(200, 200, time: 20), ours: samples(300, 330, time: 40)),
  ]
  private let contest = ScaleContest(
    name: "work", item: "an item",
    ours: ScaleSide(name: "procedures", items: 1) { _ in
      ScaleWork(add: { _, _ in }, finish: {})
    },
    peers: [])

  @Test("a ratio is the median of those of the rounds")
  func ratios() {
    #expect(rows[0].growth == 3.15 && rows[1].growth == 0.75)
    #expect(rows[0].throughputRatio == nil && rows[1].throughputRatio == 2.1)
    #expect(rows[1].processorTimeRatio == 0.5)
    #expect(rows[0].waits == 250 && rows[0].failures == 125 && rows[0].switches == 0.5)
  }

  @Test("a table has each figure, and the counts only if they were made", arguments: [true, false])
  func table(isCounted: Bool) throws {
    for format in [ReportFormat.text, .markdown] {
      let report = ScaleReport(format, cores: 2, isCounted: isCounted)
      let text = try #require(report.table(contest, rows))
      for word in ["work: an item", "procedures", "315", "3.15", "40.0 ns", "2.10", "0.50", "500"] {
        #expect(text.contains(word), "\(word)")
      }
      #expect(text.contains("failed/1,000") == isCounted)
      let lines = text.split(separator: "\n").dropFirst()
      if format == .markdown {
        #expect(Set(lines.map { $0.count { $0 == "|" } }).count == 1)
      } else {
        #expect(Set(lines.map(\.count)).count == 1)
      }
    }
  }

  @Test("more threads than cores have a note, and only they")
  func note() throws {
    let report = ScaleReport(.text, cores: 2)
    #expect(try #require(report.heading(threads: [1, 2])).contains("There are") == false)
    let note = "There are 2 cores and up to 16 threads"
    #expect(try #require(report.heading(threads: [1, 16])).contains(note))
  }

  @Test("JSON is one array of rows")
  func json() throws {
    let report = ScaleReport(.json)
    #expect(report.heading(threads: [16]) == nil && report.table(contest, rows) == nil)
    let text = try #require(report.format.closing(rows))
    let found = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
    #expect(found?.count == 2 && found?.last?["throughputRatio"] as? Double == 2.1)
    #expect(found?.first?["threads"] as? Int == 4)
  }
}
