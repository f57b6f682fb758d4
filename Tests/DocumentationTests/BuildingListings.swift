import Procedures
import ProcedureTestSupport
import Testing

// listing: building-group
/// Stands for work of yours.
nonisolated func step(_ name: String) -> BlockProcedure {
  BlockProcedure(name: name) { print(name) }
}
// end

// listing: building-progress
/// Stands for work that takes time.
nonisolated func render(_ page: String) async throws {}
// end

@Suite("Listings of the guide Building groups", .hangLimit)
struct BuildingListings {
  private let queue = ProcedureQueue()
  private let output = Recorder<String>()

  /// In the place of the function at the head: it notes what is printed there.
  private func step(_ name: String) -> BlockProcedure {
    let output = output
    let step = BlockProcedure { output.note(name) }
    step.name = name
    return step
  }

  @Test("the builder makes a group")
  func builder() async {
    // listing: building-group
    let (download, unpack, index) = (step("download"), step("unpack"), step("index"))
    let (install, clean) = (step("install"), step("clean"))
    let wantsReport = true
    let release = GroupProcedure {
      download.then(unpack, index).then(install, requiring: .success)
      install.then(clean)
      if wantsReport { step("report") }
      for page in 1...2 { step("render \(page)") }
    }
    queue.add(release)
    // end
    #expect(await release.waitUntilFinished() == .succeeded)
    #expect(release.children.count == 8 && output.events.count == 8)
    let order = output.events.filter { ["download", "install", "clean"].contains($0) }
    #expect(order == ["download", "install", "clean"])
  }

  @Test("then orders procedures without a group")
  func then() async {
    // listing: building-then
    let (fetch, parse, show) = (step("fetch"), step("parse"), step("show"))
    queue.add(fetch.then(parse).then(show))
    // end
    await queue.waitUntilAllFinished()
    #expect(output.events == ["fetch", "parse", "show"])
  }

  @Test("a procedure is wrapped")
  func wrapping() async {
    // listing: building-wrapping
    let gated = GatedProcedure(step("sync")) { false }  // closed: cancelled, without errors
    let tolerant = IgnoreErrorsProcedure(step("tidy"))  // succeeds however the step ends
    let limited = ComposedProcedure(step("upload")).timeout(after: .seconds(30))
    queue.add(gated, tolerant, limited)
    // end
    await queue.waitUntilAllFinished()
    #expect(gated.isCancelled && !gated.failed && !tolerant.failed && !limited.failed)
    #expect(Set(output.events) == ["tidy", "upload"])
  }

  @Test("a group reports its progress")
  func progress() async {
    let output = output
    @Sendable func print(_ item: Any) { output.note("\(item)") }
    // listing: building-progress
    let pages = ["a", "b"]
    let book = AsyncProcedure { procedure in
      for (index, page) in pages.enumerated() {
        try await render(page)
        procedure.report(fractionCompleted: Double(index + 1) / Double(pages.count))
      }
    }
    book.progressWeight = 3  // three times as much work as each of its siblings
    let printing = GroupProcedure(book, step("cover"))
    let updates = printing.progressUpdates
    queue.add(printing)
    for await fraction in updates { print("\(Int(fraction * 100)) %") }
    // end
    #expect(output.events.last == "100 %")
  }
}
