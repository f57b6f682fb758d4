import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct StuckNoteTests {
  @Test("Q7: a look is scheduled once, and learns whether something has happened since")
  func looks() {
    let note = StuckNote(isUsed: true)
    #expect(note.isWanted && note.note(), "the first one schedules a look")
    #expect(!note.putOff(), "nothing has happened since")
    #expect(note.isWanted && !note.note() && !note.isWanted && !note.note())
    #expect(note.putOff() && note.isWanted)
    #expect(!note.end(), "nothing has happened while it looked")
    #expect(note.note(), "the next one schedules a look again")
    #expect(!note.note() && note.end(), "what happened while it looked is looked at")
    #expect(!note.end())
  }

  @Test("Q7: nothing is noted of a list without looks")
  func withoutLooks() {
    let unused = StuckNote(isUsed: false)
    #expect(!unused.isWanted && !unused.note())
    let disabled = StuckNote(isUsed: true)
    disabled.disable()
    #expect(!disabled.isWanted && !disabled.note())
  }
}
