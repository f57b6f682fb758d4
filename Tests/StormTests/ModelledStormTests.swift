import Foundation
import ProcedureTestSupport
import Testing

/// Everything meets everything else on real threads, by public names only, and a model of its own
/// looks whether the promises are kept. With STRESS set, for two minutes, or `SOAK_SECONDS`.
/// `.ci/chaos` runs the same with each access to shared memory delayed at random.
@Suite(.serialized, .hangLimit) struct ModelledStormTests {
  @Test(
    "F3, X1, X2, C1, C2, C5, C6, L1, Q2, T1: a storm of everything keeps the promises",
    .enabled(if: Rounds.isStress, "only with STRESS"))
  func storm() async {
    let environment = ProcessInfo.processInfo.environment
    let seconds = Double(environment["SOAK_SECONDS"] ?? "") ?? 120
    let objections = await onThreadOfItsOwn {
      StormLanes(seeds: 0..<UInt64.max, time: .seconds(seconds)).run(2)
    }
    #expect(objections.isEmpty, "\(objections.joined(separator: "\n"))")
  }
}
