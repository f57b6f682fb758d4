import Testing

@testable import ProcedureBenchmarks

/// Two entries of our own beside two others, with given samples.
private func result(_ procedure: [Double], loop: [Double] = [1, 1, 1]) -> ContestResult {
  func entry(_ name: String, _ contestant: Contestant) -> Entry {
    Entry(name, contestant) { _ in }
  }
  let contest = Contest(
    name: "work", count: 10,
    entries: [
      entry("procedure", .procedures), entry("block", .dispatch), entry("queue", .dispatch),
    ])
  return ContestResult(
    contest: contest,
    measured: Samples(
      rounds: 3, items: [10, 10, 10], values: [[procedure], [[10, 20, 10]], [[30, 30, 30]]],
      referenceLoop: Summary(loop)))
}

private func report(_ procedure: [Double], loop: [Double] = [1, 1, 1]) -> Report {
  var report = Report(
    machine: Machine(system: "S", architecture: "A", cores: 2, processor: nil), commit: "c",
    isQuick: false)
  report.contests = [ContestReport(result(procedure, loop: loop))]
  report.costs = [
    Cost(
      Ceiling("it", .ratioToBest(RowName("work", "procedure"), of: .dispatch), .times, 1),
      in: [result(procedure)])
  ].compactMap { $0 }
  return report
}

@Suite struct ReportTests {
  @Test("the ratio is to the best of the others, round by round")
  func ratio() {
    let rows = result([5, 10, 5]).rows
    #expect(rows.map(\.ratio) == [0.5, 1, 3])
    #expect(rows.map(\.isReference) == [false, true, false])
    #expect(report([5, 10, 5]).costs.map(\.summary.median) == [0.5])
  }

  @Test("what is noisy says so, and so does a contest on a disturbed machine")
  func noise() {
    #expect(report([5, 5, 5]).rows.map(\.isNoisy) == [false, true, false])
    #expect(!report([5, 5, 5]).contests[0].isDisturbed)
    #expect(report([5, 5, 5], loop: [1, 1, 2]).contests[0].isDisturbed)
    let text = TextReport().section(report([5, 5, 5], loop: [1, 1, 2]).contests[0])
    #expect(text.contains("reference; noisy") && text.contains("too noisy to judge"))
  }

  @Test("text and Markdown hold every row, and the cost table")
  func formats() {
    let report = report([5, 10, 5])
    for format in [TextReport(), MarkdownReport()] as [any ReportFormat] {
      let text =
        format.heading(report) + format.section(report.contests[0]) + format.closing(report)
      for word in ["2 cores", "procedure", "block", "queue", "0.50", "1.00 ×", "met"] {
        #expect(text.contains(word), "\(word)")
      }
    }
    #expect(MarkdownReport().section(report.contests[0]).contains("| procedure | 5.00 | 5.00 |"))
  }

  @Test("a stored run is read as it was written")
  func file() throws {
    let report = report([5, 10, 5])
    let copy = try ReportFile.decode(try ReportFile.encode(report))
    #expect(copy.rows.map(\.name) == report.rows.map(\.name))
    #expect(copy.rows.map(\.summary) == report.rows.map(\.summary))
    #expect(copy.machine == report.machine && copy.commit == "c")
    #expect(copy.costs.map(\.verdict) == [.met])
  }

  @Test("a comparison marks what is beyond noise, and nothing else")
  func comparison() {
    let then = report([5, 5, 5])
    #expect(Comparison(report([5.2, 5.2, 5.2]), with: then).lines.map(\.mark) == [nil, nil, nil])
    #expect(Comparison(report([6, 6, 6]), with: then).lines[0].mark == "MORE")
    #expect(Comparison(report([4, 4, 4]), with: then).lines[0].mark == "less")
    // The machine is a third slower: that explains as much.
    let slow = Comparison(report([6, 6, 6], loop: [1.3, 1.3, 1.3]), with: then)
    #expect(slow.lines[0].mark == nil)
  }

  @Test("every line of the cost table finds its rows")
  func ceilings() {
    for ceiling in Ceiling.all {
      for name in ceiling.quantity.names {
        let contest = Contest.all.first { $0.name == name.contest }
        #expect(contest?.figures.contains(name.figure) == true, "\(name)")
        #expect(
          contest?.entries.contains { $0.name == name.entry && $0.size == name.size } == true,
          "\(name)")
      }
    }
  }

  @Test("no two cases, and no two rows of a case, have the same name")
  func names() {
    #expect(Set(Contest.all.map(\.name)).count == Contest.all.count)
    for contest in Contest.all {
      let names = contest.entries.map { RowName(contest.name, $0.name, size: $0.size) }
      #expect(Set(names).count == names.count, "\(contest.name)")
    }
  }
}
