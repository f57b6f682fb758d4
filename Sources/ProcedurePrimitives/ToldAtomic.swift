/// A memory order, as reported to the schedule explorer.
public enum MemoryOrder: Sendable {
  case relaxed
  case acquiring
  case releasing
  case acquiringAndReleasing
  /// The explorer treats it as `acquiringAndReleasing`.
  case sequentiallyConsistent

  /// Whether the thread then sees everything that the writer of the value saw.
  public var acquires: Bool { self != .relaxed && self != .releasing }
  /// Whether readers of the value then see everything that the thread sees.
  public var releases: Bool { self != .relaxed && self != .acquiring }
}

/// The schedule explorer's record of an atomic. It is empty in ordinary builds, and its functions
/// return the value unchanged.
@usableFromInline
struct ToldAtomic: Sendable {
  #if MODEL
    @usableFromInline let place: ModelPlace
  #endif

  @usableFromInline @_transparent
  init(ignoring ignored: UInt) {
    #if MODEL
      place = ModelPlace(ignoring: ignored)
    #endif
  }

  /// - Returns: the value that the thread reads: in ordinary builds `newest`.
  @usableFromInline @_transparent
  func load<Value: FixedWidthInteger>(_ newest: Value, _ order: MemoryOrder) -> Value {
    #if MODEL
      ModelSchedule.thread.map {
        Value(truncatingIfNeeded: $0.load(place, holding: UInt(newest), order))
      } ?? newest
    #else
      newest
    #endif
  }

  @usableFromInline @_transparent
  func store<Value: FixedWidthInteger>(
    _ new: Value, over old: @autoclosure () -> Value, _ order: MemoryOrder
  ) {
    #if MODEL
      ModelSchedule.thread?.store(UInt(new), in: place, over: UInt(old()), order)
    #endif
  }

  /// A read-modify-write.
  ///
  /// - Returns: `old`.
  @usableFromInline @_transparent
  func change<Value: FixedWidthInteger>(
    _ old: Value, to new: Value, _ order: MemoryOrder
  ) -> Value {
    #if MODEL
      ModelSchedule.thread?.change(place, from: UInt(old), to: UInt(new), order)
    #endif
    return old
  }

  /// A compare-exchange that found `original`. It takes no tuple, whose type unoptimised code would
  /// look up each time.
  ///
  /// - Parameter failure: the order if nothing was exchanged.
  @usableFromInline @_transparent
  func compareExchange(
    exchanged: Bool, _ original: UInt, to new: UInt,
    _ order: MemoryOrder, orFail failure: MemoryOrder
  ) {
    #if MODEL
      ModelSchedule.thread?.change(
        place, from: original, to: exchanged ? new : nil, exchanged ? order : failure)
    #endif
  }
}
