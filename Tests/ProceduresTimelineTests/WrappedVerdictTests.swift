import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// What the verdict says of a step does not depend on what wraps it.
@Suite(.hangLimit) struct WrappedVerdictTests {
  enum Kind: CaseIterable {
    case slot, rate, dependency, exclusion, suspension
  }

  /// Makes its child when it executes.
  private final class Late: GroupProcedure, @unchecked Sendable {
    private let make: @Sendable () -> Procedure

    init(_ make: @escaping @Sendable () -> Procedure) {
      self.make = make
      super.init(name: "late", children: [])
    }

    override func execute() {
      add(child: make())
      super.execute()
    }
  }

  typealias Make = @Sendable () -> Procedure

  private static let wrappers: [(name: String, @Sendable (@escaping Make) -> Procedure)] = [
    ("group", { GroupProcedure(name: "group", $0()) }),
    ("group in group", { GroupProcedure(GroupProcedure($0())) }),
    ("retry", { make in RetryProcedure(name: "retry", max: 2) { make() } }),
    (
      "retry in group",
      { make in GroupProcedure(RetryProcedure(name: "retry", max: 2) { make() }) }
    ),
    ("repeat", { make in RepeatProcedure(name: "repeat", max: 1) { make() } }),
    ("made by execute", { make in Late(make) }),
    ("made by execute in a retry", { make in RetryProcedure(max: 2) { Late(make) } }),
  ]

  private func verdict(
    _ kind: Kind, _ wrap: (@escaping Make) -> Procedure
  ) throws -> String {
    let scenario = Scenario(limit: kind == .slot ? 1 : .max)
    let domain = ExclusionDomain(name: "verdicts")
    let first = lasting(5, "first")
    let second = wrap { lasting(1, "second") }
    switch kind {
    case .slot: break
    case .rate:
      let rate = RateLimit(
        1, per: .seconds(10), of: ExclusionCategory(named: "host", in: domain))
      for procedure in [first, second] { procedure.add(condition: rate) }
    case .dependency: second.add(dependency: first)
    case .exclusion:
      for procedure in [first, second] {
        procedure.add(condition: MutuallyExclusive(named: "disk", in: domain))
      }
    case .suspension:
      scenario.queue.isSuspended = true
      scenario.at(3) { [queue = scenario.queue] in queue.isSuspended = false }
    }
    scenario.queue.add(first)
    scenario.queue.add(second)
    return try scenario.run().verdict
  }

  @Test("V4: the verdict names the waits of the groups around a step", arguments: Kind.allCases)
  func wrapped(kind: Kind) throws {
    let plain = try verdict(kind) { $0() }
    #expect(!plain.contains("not enqueued"))
    for (name, wrap) in Self.wrappers {
      #expect(try verdict(kind, wrap) == plain, "\(name)")
    }
  }

  @Test("V4: attempts and groups are no failures besides those of the user's procedures")
  func failures() throws {
    let scenario = Scenario()
    let attempts = Counter()
    let mended = RetryProcedure(name: "mended", max: 3) {
      BlockProcedure { if attempts.increment() < 3 { throw TestError("again") } }
    }
    let hopeless = RetryProcedure(name: "hopeless", max: 3) {
      GroupProcedure(BlockProcedure { throw TestError("never") })
    }
    let group = GroupProcedure(
      GroupProcedure(BlockProcedure { throw TestError("a") }),
      BlockProcedure { throw TestError("b") },
      BlockProcedure {})
    let recovered = GroupProcedure(BlockProcedure { throw TestError("c") })
    recovered.recover { _, _, _ in [] }
    scenario.queue.add(mended, hopeless, group, recovered)
    let summary = try scenario.run().summary
    // The hopeless one, and two children of the group.
    #expect(summary.contains("\n3 failed"), "\(summary)")
  }

  @Test("V4: attempts in a row are no dependencies; what the user ordered is one")
  func rows() throws {
    func summary(isOrdered: Bool) throws -> String {
      let scenario = Scenario(limit: 1)
      let clock = scenario.queue.clock
      var last: Procedure?
      for number in 0..<6 {
        let attempts = Counter()
        let step = RetryProcedure(name: "step \(number)", max: 2) {
          AsyncProcedure { @Sendable in
            try await clock.sleep(for: .seconds(1))
            if attempts.increment() == 1 { throw TestError("again") }
          }
        }
        if isOrdered, let last { step.add(dependency: last) }
        last = step
        scenario.queue.add(step)
      }
      return try scenario.run().verdict
    }
    #expect(!(try summary(isOrdered: false)).contains("by dependencies"))
    #expect(try summary(isOrdered: true).contains("in a row, by dependencies"))
  }
}
