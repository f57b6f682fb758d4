import Procedures
import ProcedureTestSupport
import Testing

// listing: exclusion-type
enum Database {}

final class Migrate: Procedure, @unchecked Sendable {
  override init() {
    super.init()
    add(condition: MutuallyExclusive<Database>())
  }

  override func execute() {
    // No other procedure that excludes others from the database has started and not ended.
    finish()
  }
}
// end

@Suite("Listings of the guide Mutual exclusion", .hangLimit)
struct ExclusionListings {
  private let queue = ProcedureQueue()

  @Test("a category is a type, a name or a domain of its own")
  func categories() async {
    let migrate = Migrate()
    let (export, archive) = (BlockProcedure {}, BlockProcedure {})
    // listing: exclusion-categories
    export.add(condition: MutuallyExclusive<Database>())
    export.add(condition: MutuallyExclusive(named: "disk"))  // both in one step, or neither

    let exports = ExclusionDomain(name: "exports")
    archive.add(condition: MutuallyExclusive(named: "disk", in: exports))  // another "disk"
    // end
    queue.add(migrate, export, archive)
    for procedure in [migrate, export, archive] {
      #expect(await procedure.waitUntilFinished() == .succeeded)
    }
  }

  @Test("a group holds it for its children")
  func groups() async {
    // listing: exclusion-groups
    let upgrade = GroupProcedure(Migrate(), Migrate())
    upgrade.add(condition: MutuallyExclusive<Database>())
    queue.add(upgrade, Migrate())
    // end
    #expect(await upgrade.waitUntilFinished() == .succeeded)
    await queue.waitUntilAllFinished()
  }

  @Test("a category lets three in at once")
  func counted() async {
    let (download, render) = (BlockProcedure {}, BlockProcedure {})
    let simulate = BlockProcedure {}
    let host = "example.org"
    // listing: exclusion-counted
    download.add(condition: AtMost(6, of: ExclusionCategory(named: host)))
    render.add(condition: AtMost(2, of: "GPU"))
    // Of eight processors it takes four, when so many are free.
    simulate.add(condition: AtMost(8, of: "processors", taking: 4))
    // end
    // listing: exclusion-rate
    download.add(condition: RateLimit(10, per: .seconds(1), of: ExclusionCategory(named: host)))
    // end
    queue.add(download, render)
    await queue.waitUntilAllFinished()
    #expect(!download.isCancelled && !render.isCancelled)
  }
}
