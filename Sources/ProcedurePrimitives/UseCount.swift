/// The schedule explorer's record of plain data that may have one user at a time. It is empty in
/// ordinary builds.
///
/// The explorer counts the uses. It reports a data race if a thread uses the data without having
/// synchronised with the previous use. So a missing release or acquire shows in every schedule,
/// even without a wrong value. Each lock has such a record for the data that it guards.
public struct UseCount: Sendable {
  #if MODEL
    @usableFromInline let place = ModelPlace()
    @usableFromInline let data: StaticString
  #endif

  /// - Parameter data: names the data in the report of a race.
  @inlinable @inline(__always)
  public init(of data: StaticString) {
    #if MODEL
      self.data = data
    #endif
  }

  /// Records a use of the data by this thread.
  @inlinable @inline(__always)
  public func note() {
    #if MODEL
      ModelSchedule.thread?.use(place, data)
    #endif
  }

  /// Records that the thread releases the object that owns the data. Reference counting, which the
  /// explorer does not see, orders that after all other uses.
  @inlinable @inline(__always)
  public func noteLast() {
    #if MODEL
      ModelSchedule.thread?.useLast(place)
    #endif
  }
}
