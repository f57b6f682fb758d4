import Procedures
import ProcedureTestSupport
import Testing

@Suite("Listings of the guide Building groups")
struct BuildingListings {
  private let queue = ProcedureQueue()
  private let output = Recorder<String>()

  private func step(_ name: String) -> BlockProcedure {
    let output = output
    let step = BlockProcedure { output.note(name) }
    step.name = name
    return step
  }

  @Test("the builder")
  func builder() async {
    let (download, unpack, index) = (step("download"), step("unpack"), step("index"))
    let (install, clean) = (step("install"), step("clean"))
    let (wantsReport, pages) = (true, [1, 2])
    func report() -> Procedure { step("report") }
    func render(_ page: Int) -> Procedure { step("render \(page)") }
    // listing: building-group
    let group = GroupProcedure {
      download.then(unpack, index).then(install, requiring: .success)
      install.then(clean)
      if wantsReport { report() }
      for page in pages { render(page) }
    }
    queue.add(group)
    // end
    #expect(await group.waitUntilFinished() == .succeeded)
    #expect(group.children.count == 8 && output.events.count == 8)
    let order = output.events.filter { ["download", "install", "clean"].contains($0) }
    #expect(order == ["download", "install", "clean"])
  }

  @Test("then, without a group")
  func then() async {
    let (fetch, parse, show) = (step("fetch"), step("parse"), step("show"))
    // listing: building-then
    queue.add(fetch.then(parse).then(show))
    // end
    await queue.waitUntilAllFinished()
    #expect(output.events == ["fetch", "parse", "show"])
  }

  @Test("wrapping")
  func wrapping() async {
    let isOnline = false
    let (sync, clean, upload) = (step("sync"), step("clean"), step("upload"))
    // listing: building-wrapping
    let gated = GatedProcedure(sync) { isOnline }  // closed: cancelled, without errors
    let tolerant = IgnoreErrorsProcedure(clean)  // succeeds however `clean` ends
    let limited = ComposedProcedure(upload).timeout(after: .seconds(30))
    queue.add(gated, tolerant, limited)
    // end
    await queue.waitUntilAllFinished()
    #expect(gated.isCancelled && !gated.failed && !tolerant.failed && !limited.failed)
    #expect(Set(output.events) == ["clean", "upload"])
  }

  @Test("progress")
  func progress() async {
    let output = output
    @Sendable func print(_ item: Any) { output.note("\(item)") }
    let pages = ["a", "b"]
    @Sendable func render(_ page: String) async throws {}
    // listing: building-progress
    let book = AsyncProcedure { procedure in
      for (index, page) in pages.enumerated() {
        try await render(page)
        procedure.report(fractionCompleted: Double(index + 1) / Double(pages.count))
      }
    }
    book.progressWeight = 3  // three times as much work as each of its siblings
    let group = GroupProcedure(book, step("cover"))
    let updates = group.progressUpdates
    queue.add(group)
    for await fraction in updates { print("\(Int(fraction * 100)) %") }
    // end
    #expect(output.events.last == "100 %")
  }
}
