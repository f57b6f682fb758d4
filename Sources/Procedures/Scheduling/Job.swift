internal import Dispatch

/// A job for a worker.
struct Job<Item: Schedulable>: Sendable {
  /// The reference is the worker's, until it gives it back, or releases it.
  let member: Member<Item>
  let kind: JobKind
  /// Nil for that of the worker.
  let quality: DispatchQoS.QoSClass?

  /// A turn that is held for the caller.
  static func turn(of item: Item) -> Job {
    Job(member: .retaining(item), kind: .turn, quality: nil)
  }
}

enum JobKind: Sendable, Equatable {
  /// It has something to do.
  case turn
  /// Its conditions are to be evaluated, if it is still at that attempt.
  case evaluate(UInt32)
  /// It has a slot now, if it is still at that attempt.
  case start(UInt32)
}
