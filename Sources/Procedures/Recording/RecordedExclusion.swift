internal import ProcedurePrimitives

/// Where a procedure waited in line for what others excluded it from.
package struct RecordedExclusion: Sendable {
  /// How long each hindrance was there meanwhile: together, how long it was in line.
  package internal(set) var times = HindranceTimes()
  package internal(set) var category: String?
  /// Whose finish made room for it; 0 if that is not recorded in the same store.
  package internal(set) var holder: UInt64 = 0

  /// As a part of the time from ready to the start. A cancel ends that before the procedure leaves the line,
  /// some microseconds later.
  func inside(_ readyWait: HindranceTimes) -> Self {
    var inside = self
    inside.times = times.limited(to: readyWait)
    return inside
  }
}

/// How long a recorded procedure is in line for what others exclude it from, as its request notes it.
///
/// Guarded by the lock of the list. Of each recorded procedure that excludes others there is one, which its
/// request may refer to for longer than its record lives.
final class ExclusionWait: @unchecked Sendable {
  /// The record that it is of.
  let id: RecordID
  private let recording: ListRecording
  @safe @exclusivity(unchecked) private var known: RecordedExclusion?
  @safe @exclusivity(unchecked) private var isInLine = false

  init(of number: UInt64, in recording: ListRecording) {
    id = RecordID(number, in: recording.store)
    self.recording = recording
  }

  /// It had a slot at hand, and waits in line.
  ///
  /// - Parameter category: that it stands in line for.
  func enterLine(for category: @autoclosure () -> String?) {
    guard !isInLine else { return }
    isInLine = true
    var exclusion = known ?? RecordedExclusion()
    exclusion.category = category()
    exclusion.times -= recording.sample().times
    known = exclusion
  }

  /// It goes on, or waits for something else.
  ///
  /// - Parameter holder: the record of the procedure that made room for it, if that is known.
  func leaveLine(after holder: RecordID = .none) {
    guard isInLine else { return }
    isInLine = false
    known?.times += recording.sample().times
    if let number = holder.number(in: recording.store) { known?.holder = number }
  }

  /// What is known of it, as if it left the line now; nil if it never was in line.
  var soFar: RecordedExclusion? {
    guard isInLine else { return known }
    var ended = known
    ended?.times += recording.sample().times
    return ended
  }

  /// The procedure ends: an offer that is still on its way changes nothing any more.
  func end() -> RecordedExclusion? {
    leaveLine()
    return known
  }
}
