#if canImport(os)
  public import Procedures
  internal import os

  extension ProcedureQueue {
    /// Emits signposts of its procedures, which Instruments shows as intervals while they run.
    ///
    /// ```swift
    /// let images = ProcedureQueue(name: "images")
    /// images.emitSignposts(subsystem: "com.example.shop")
    /// ```
    ///
    /// Each procedure that is added from here on has an interval `Procedure waits` until it starts, an interval
    /// `Procedure` from then on until it has finished, and an event `Procedure cancelled`. So have those below:
    /// children, produced ones, attempts of a retry. The message has its name, its type, and the name of its queue or
    /// group; at the end the outcome, with the types of its errors. All of that is public in the log.
    ///
    /// Call it once for a queue, which emits as long as it lives. Nothing keeps a finished procedure alive.
    ///
    /// ## Cost
    /// A procedure that is added while signposts are not recorded costs a check besides what a delegate of the queue
    /// does. It has none later; neither have children of such a group. While they are recorded, each procedure has
    /// an observer, so no errors are reported as unheard.
    ///
    /// - Parameters:
    ///   - subsystem: that of your program's logs. Instruments lists signposts by it.
    ///   - category: nil for the system's *dynamic tracing*: these are recorded only while a tool such as Instruments
    ///     asks for them. Those of a category of your own are always recorded.
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

  /// The system takes names and messages as literals only, so each call has its own.
  private struct SignposterSink: SignpostSink {
    let signposter: OSSignposter

    var isEnabled: Bool { signposter.isEnabled }

    func makeNumber() -> UInt64 { signposter.makeSignpostID().rawValue }

    func begin(_ interval: SignpostInterval, _ number: UInt64, _ message: String) {
      let id = OSSignpostID(number)
      // The state is made again at the end, from the number.
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
