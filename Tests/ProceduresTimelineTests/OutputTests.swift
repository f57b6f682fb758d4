import Foundation
import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

@Suite(.hangLimit) struct OutputTests {
  @Test("V3: under simulation the same seed gives the same bytes")
  func repeats() throws {
    for seed in 0..<10 as Range<UInt64> {
      let (first, second) = (
        try RandomWorkload(seed: seed).run(), try RandomWorkload(seed: seed).run()
      )
      #expect(first.chromeTrace() == second.chromeTrace())
      #expect(first.html() == second.html())
      #expect(first.otlpRequests(service: "a") == second.otlpRequests(service: "a"))
      #expect(first.summary == second.summary)
    }
    #expect(
      try RandomWorkload(seed: 1).run().chromeTrace()
        != RandomWorkload(seed: 2).run().chromeTrace())
  }

  @Test("V3: the summary says where the time went")
  func summary() throws {
    let summary = try Example().run().summary
    for line in [
      "13 procedures in 1 group", "Critical path", "fetch sources", "Waits, by cause", "Slowest",
      "exclusion", "slot", "1 cancelled",
    ] {
      #expect(summary.contains(line), "no '\(line)' in:\n\(summary)")
    }
  }

  @Test("V3: the chart of what ran has no gap where something ran all the time")
  func chart() throws {
    var pairs = [(3, 2), (3, 3), (1, 1), (300, 7), (1, 5)].map { ($0.0 * 1_000_000_000, $0.1) }
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<50 {
      pairs.append((.random(in: 1...900_000_000, using: &numbers), .random(in: 1...9)))
    }
    for (first, seconds) in pairs {
      let scenario = Scenario()
      scenario.queue.add(
        LastingProcedure(.nanoseconds(first)).then(lasting(seconds, "second")))
      let summary = try scenario.run().summary
      let chart = summary.split(separator: "\n").first { $0.contains("█") }
      #expect(
        chart?.drop { $0 == " " } == String(repeating: "█", count: 60)[...],
        "\(first) ns and \(seconds) s:\n\(summary)")
    }
  }

  @Test("V3: no names or errors steer the terminal, or end the page's data")
  func escaped() throws {
    let scenario = Scenario()
    let name = "</script><img src=x onerror=alert(1)>\u{1b}[31m\n\u{2028}\"\\é"
    scenario.queue.add(
      BlockProcedure { throw TestError("<b>&amp;\u{0}") }.named(name))
    let snapshot = try scenario.run()
    let page = snapshot.html(title: "<i>\"&")
    #expect(page.contains("<title>&lt;i&gt;&quot;&amp;</title>"))
    #expect(!page.contains("<img"))
    #expect(page.components(separatedBy: "</script>").count == 3)
    #expect(!snapshot.summary.contains("\u{1b}"))
    let data = try #require(
      page.components(separatedBy: "id=\"data\">").last?.components(separatedBy: "</script>").first)
    let object = try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]
    #expect((object?["names"] as? [String])?.first == name)
    #expect(object?["title"] as? String == "<i>\"&")
  }

  @Test("V3: the page names nothing that a browser would load")
  func selfContained() throws {
    let page = try Example().run().html()
    for text in ["http:", "https:", "src=\"", "url(", "import(", "fetch(", "XMLHttpRequest"] {
      let code = page.components(separatedBy: "id=\"data\">").first ?? ""
      let script = page.components(separatedBy: "</script>").dropFirst().first ?? ""
      #expect(!code.contains(text) && !script.contains(text), "\(text)")
    }
    #expect(page.contains("default-src 'none'"))
  }
}
