import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct DurationForPeopleTests {
  @Test("a duration is rounded to what a person reads")
  func texts() {
    let texts: [(Duration, String)] = [
      (.zero, "1 millisecond"), (.milliseconds(1), "1 millisecond"),
      (.microseconds(20_400), "20 milliseconds"), (.milliseconds(949), "949 milliseconds"),
      (.milliseconds(999), "1 second"), (.milliseconds(1_234), "1.2 seconds"),
      (.milliseconds(9_999), "10 seconds"), (.seconds(10) + .nanoseconds(208_937), "10 seconds"),
      (.seconds(119), "119 seconds"), (.seconds(120), "2 minutes"), (.seconds(7_200), "2 hours"),
      (.seconds(259_200), "3 days"), (.seconds(-1), "1 millisecond"),
    ]
    for (duration, text) in texts { #expect(duration.forPeople == text) }
    #expect(Duration.longest.forPeople.hasSuffix(" days"))
  }
}
