#if canImport(os)
  public import Procedures
  internal import os

  extension ProcedureQueue {
    /// Emits signposts for the queue's procedures, which Instruments shows as intervals.
    ///
    /// ```swift
    /// let images = ProcedureQueue(name: "images")
    /// images.emitSignposts(subsystem: "com.example.shop")
    /// ```
    ///
    /// Each procedure that is added from now on has an interval `Procedure waits` until it starts,
    /// an interval `Procedure` from its start until it has finished, and an event
    /// `Procedure cancelled`. The same is true for children, produced procedures, and attempts of a
    /// retry. The message has the procedure's name, its type, and the name of its queue or group;
    /// at the end the outcome, with the types of its errors. All of it is public in the log.
    ///
    /// Call it once for a queue, which then emits signposts as long as it lives. Finished
    /// procedures are not kept alive.
    ///
    /// ## Cost
    /// A procedure that is added while signposts are not recorded costs one check besides the cost
    /// of a queue's delegate. Neither it nor the children of such a group cost anything later.
    /// While they are recorded, each procedure has an observer, so no errors are reported as
    /// unheard.
    ///
    /// - Parameters:
    ///   - subsystem: the subsystem of your program's logs, by which Instruments lists signposts.
    ///   - category: nil for the system's *dynamic tracing*, which records signposts only while a
    ///     tool such as Instruments asks for them. Signposts of your own category are always
    ///     recorded.
    public func emitSignposts(subsystem: String, category: String? = nil) {
      let signposter =
        if let category {
          OSSignposter(subsystem: subsystem, category: category)
        } else {
          OSSignposter(subsystem: subsystem, category: .dynamicTracing)
        }
      SignpostEmitter(SignposterSink(signposter: signposter)).emit(for: self)
    }
  }

  /// The system accepts names and messages only as literals, so each call has its own.
  private struct SignposterSink: SignpostSink {
    let signposter: OSSignposter

    var isEnabled: Bool { signposter.isEnabled }

    func makeNumber() -> UInt64 { signposter.makeSignpostID().rawValue }

    func begin(_ interval: SignpostInterval, _ number: UInt64, _ message: String) {
      let id = OSSignpostID(number)
      // The end of the interval makes the state again, from the number.
      switch interval {
      case .wait:
        _ = signposter.beginInterval("Procedure waits", id: id, "\(message, privacy: .public)")
      case .run:
        _ = signposter.beginInterval("Procedure", id: id, "\(message, privacy: .public)")
      }
    }

    func end(_ interval: SignpostInterval, _ number: UInt64, _ message: String) {
      let state = OSSignpostIntervalState.beginState(id: OSSignpostID(number))
      switch interval {
      case .wait:
        signposter.endInterval("Procedure waits", state, "\(message, privacy: .public)")
      case .run:
        signposter.endInterval("Procedure", state, "\(message, privacy: .public)")
      }
    }

    func emitCancel(_ number: UInt64, _ message: String) {
      signposter.emitEvent(
        "Procedure cancelled", id: OSSignpostID(number), "\(message, privacy: .public)")
    }
  }
#endif
