import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureBenchmarks

@Suite(.hangLimit) struct ReportTests {
  private let row = Row(
    Finding(
      contest: Contest(
        name: "work", ceiling: 0.8, aim: 0.5, ours: Side(measuring: "procedure") { _ in 0 },
        theirs: Side(measuring: "block") { _ in 0 }),
      ours: [5, 6, 7, 6, 6, 6], theirs: [10, 10, 10, 10, 10, 10],
      processorTimes: [1.5, 1.25, 1.5]))

  @Test("text and Markdown hold the whole row")
  func formats() throws {
    for format in [ReportFormat.text, .markdown] {
      let text = try #require(format.line(row))
      for word in ["work", "procedure", "6.00 ns", "block", "10.0 ns", "0.60 ×", "0.80 ×", "met"] {
        #expect(text.contains(word), "\(word)")
      }
      #expect(text.contains("0.60 – 0.60") && text.contains("0.50 ×") && text.contains("1.50 ×"))
      #expect(format.heading.contains("cores"))
    }
  }

  @Test("a Markdown row has as many cells as the heading")
  func cells() throws {
    let heading = try #require(ReportFormat.markdown.heading.split(separator: "\n").last)
    let line = try #require(ReportFormat.markdown.line(row))
    #expect(heading.count { $0 == "|" } == line.count { $0 == "|" })
  }

  @Test("JSON is one array of rows, with numbers")
  func json() throws {
    #expect(ReportFormat.json.line(row) == nil && ReportFormat.json.heading == "")
    let text = try #require(ReportFormat.json.closing([row]))
    let rows = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
    let found = try #require(rows?.first)
    #expect(found["median"] as? Double == 0.6 && found["ceiling"] as? Double == 0.8)
    #expect(found["processorTime"] as? Double == 1.5)
    #expect(found["verdict"] as? String == "met" && found["rounds"] as? Int == 6)
  }

  @Test("numbers are short")
  func numbers() {
    #expect(
      [0, 0.004, 0.5, 9.99, 12.34, 99.94, 99.96, 1_234_567].map(\.short) == [
        "0.00", "0.00", "0.50", "9.99", "12.3", "99.9", "100", "1,234,567",
      ])
  }
}
