import ProcedureTestSupport
import Testing

@testable import ProcedurePrimitives

/// The table at the head of `WorkLineState`.
@Suite(.hangLimit) struct WorkLineStateTests {
  private typealias Needs = WorkLineState.Needs

  @Test("the looks begin with the first that waits, and end when none waits and none was begun")
  func looks() {
    var state = WorkLineState()
    #expect(state.submit({}).needs == .look)
    #expect(state.submit({}).needs == [])
    #expect(state.begin() != nil)
    #expect(state.begin() != nil)
    #expect(state.begin() == nil)
    #expect(state.look(isComputing: false) == .look)
    #expect(state.look(isComputing: false) == [])
    #expect(state.submit({}).needs == .look)
  }

  @Test("a line is stalled if nothing was begun between two looks")
  func stalled() {
    var state = WorkLineState()
    for _ in 0..<3 { _ = state.submit {} }
    _ = state.begin()
    #expect(state.look(isComputing: true) == .look)
    #expect(!state.isStalled)
    #expect(state.look(isComputing: true) == [.look, .spareThread])
    #expect(state.isStalled)
    _ = state.beginOnSpareThread()
    // It makes progress: no other is needed.
    #expect(state.look(isComputing: false) == .look)
    #expect(state.isStalled)
    // The block whose work the spare thread has begun does nothing.
    #expect(state.begin() == nil)
    #expect(!state.isStalled)
    #expect(state.beginOnSpareThread() == nil)
    #expect(state.begin() != nil)
    #expect(state.begin() == nil)
  }

  @Test("Q11: while a pool is blocked, later work takes over the blocks of work that was begun")
  func blocksWhileStalled() {
    var state = WorkLineState()
    #expect(state.submit({}).needsBlock)
    #expect(state.look(isComputing: false) == [.look, .spareThread])
    for _ in 0..<1_000 {
      #expect(state.beginOnSpareThread() != nil)
      #expect(!state.submit({}).needsBlock)
    }
    #expect(state.submit({}).needsBlock)
    // As many blocks as there is work: when the pool goes on, each begins some.
    #expect(state.begin() != nil)
    #expect(state.begin() != nil)
    #expect(state.submit({}).needsBlock)
    #expect(state.begin() != nil)
    #expect(state.begin() == nil)
  }

  @Test("while the process computes, each further spare thread comes later than the one before")
  func patience() {
    var state = WorkLineState()
    _ = state.submit {}
    var looks: [Int] = []
    for look in 1...1_200 where state.look(isComputing: true).contains(.spareThread) {
      looks.append(look)
    }
    #expect(looks == [1, 51, 151, 351, 751, 1_151])
    looks = []
    for look in 1...3 where state.look(isComputing: false).contains(.spareThread) {
      looks.append(look)
    }
    #expect(looks == [1, 2, 3])
  }

  @Test("a stalled line without a spare thread gets one with the next submission")
  func atOnce() {
    var state = WorkLineState()
    _ = state.submit {}
    #expect(state.look(isComputing: false) == [.look, .spareThread])
    #expect(state.beginOnSpareThread() != nil)
    #expect(state.beginOnSpareThread() == nil)
    #expect(state.submit({}).needs == .spareThread)
    #expect(state.submit({}).needs == [])
    state.lacksSpareThread()
    #expect(state.submit({}).needs == .spareThread)
  }

  @Test(
    "a spare thread that waits for procedures does not count: another begins what waits at once")
  func blocks() {
    var state = WorkLineState()
    for _ in 0..<2 { _ = state.submit {} }
    #expect(state.look(isComputing: true) == [.look, .spareThread])
    #expect(state.beginOnSpareThread() != nil)
    #expect(state.spareThreadBlocks() == .spareThread)
    #expect(state.beginOnSpareThread() != nil)
    // Nothing waits: the next submission gets one.
    #expect(state.spareThreadBlocks() == [])
    #expect(state.submit({}).needs == .spareThread)
    #expect(state.beginOnSpareThread() != nil)
    // All three serve the line again, and end.
    for _ in 0..<2 { state.spareThreadGoesOn() }
    for _ in 0..<3 { #expect(state.beginOnSpareThread() == nil) }
    #expect(state.submit({}).needs == .spareThread)
  }

  @Test("a thread of its own serves the line until nothing waits, and is idle then")
  func own() {
    var state = WorkLineState(idleThreads: 2)
    #expect(state.submit({}).idleThread == 0)
    #expect(state.submit({}).idleThread == 1)
    #expect(state.submit({}).idleThread == nil)
    for _ in 0..<3 { #expect(state.begin(onThread: 1) != nil) }
    #expect(state.begin(onThread: 1) == nil)
    #expect(state.submit({}).idleThread == 1)
  }
}
