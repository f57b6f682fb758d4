import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct ExclusionCategoryTests {
  private let domain = ExclusionDomain(name: "table")

  @Test("L1: categories differ by type, name and domain, and by nothing else")
  func categories() {
    enum Disk {}
    let other = ExclusionDomain(name: "table")
    #expect(ExclusionCategory(Disk.self) == ExclusionCategory(Disk.self))
    #expect(ExclusionCategory(Disk.self) != ExclusionCategory(named: "Disk"))
    #expect(ExclusionCategory(named: "a") == ExclusionCategory(named: "a", in: .process))
    #expect(ExclusionCategory(named: "a", in: domain) != ExclusionCategory(named: "a", in: other))
    #expect(ExclusionCategory(Disk.self, in: domain) != ExclusionCategory(Disk.self, in: other))
    #expect(Set([ExclusionCategory(Disk.self), ExclusionCategory(Disk.self)]).count == 1)
    #expect("\(ExclusionCategory(Disk.self)) \(domain)" == "Disk table")
  }
}
