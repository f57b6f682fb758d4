/// Plain data that one thread at a time may use, as the schedule explorer knows it. In ordinary builds it is nothing.
///
/// The explorer counts the uses. A thread that uses the data and does not know of the use before, by all that it has read,
/// is a data race: with this a release or an acquire that is missing shows in every schedule, with no wrong value.
/// Each lock has one, for what it guards.
public struct UseCount: Sendable {
  #if MODEL
    @usableFromInline let place = ModelPlace()
    @usableFromInline let data: StaticString
  #endif

  /// - Parameter data: what the data is, for the report of a race.
  @inlinable @inline(__always)
  public init(of data: StaticString) {
    #if MODEL
      self.data = data
    #endif
  }

  /// The thread uses the data.
  @inlinable @inline(__always)
  public func note() {
    #if MODEL
      ModelSchedule.thread?.use(place, data)
    #endif
  }

  /// The thread releases the object that has the data, which it can only do after all other uses: the count of
  /// references orders them, of which the explorer does not know.
  @inlinable @inline(__always)
  public func noteLast() {
    #if MODEL
      ModelSchedule.thread?.useLast(place)
    #endif
  }
}
