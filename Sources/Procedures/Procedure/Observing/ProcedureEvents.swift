/// The events that an observer wants to receive.
///
/// An event that no observer wants is not delivered, which is cheaper.
public struct ProcedureEvents: OptionSet, Sendable {
  /// One bit for each event.
  public let rawValue: UInt8

  /// Makes a set from its bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The observer was attached: the first event that it receives.
  public static let didAttach = ProcedureEvents(rawValue: 1 << 0)
  /// `execute()` is about to be called.
  public static let willExecute = ProcedureEvents(rawValue: 1 << 1)
  /// `execute()` has returned; the work may still go on.
  public static let didExecute = ProcedureEvents(rawValue: 1 << 2)
  /// The procedure was cancelled.
  public static let didCancel = ProcedureEvents(rawValue: 1 << 3)
  /// The procedure is about to add another procedure to its queue or group.
  public static let willAdd = ProcedureEvents(rawValue: 1 << 4)
  /// The procedure has added another procedure.
  public static let didAdd = ProcedureEvents(rawValue: 1 << 5)
  /// The procedure is about to finish.
  public static let willFinish = ProcedureEvents(rawValue: 1 << 6)
  /// The procedure has finished.
  public static let didFinish = ProcedureEvents(rawValue: 1 << 7)

  /// Every event.
  public static let all = ProcedureEvents(rawValue: .max)

  /// The name of one event in a timeline.
  var recordedName: String {
    switch self {
    case .didAttach: "didAttach"
    case .willExecute: "willExecute"
    case .didExecute: "didExecute"
    case .didCancel: "didCancel"
    case .willAdd: "willAdd"
    case .didAdd: "didAdd"
    case .willFinish: "willFinish"
    default: "didFinish"
    }
  }

  /// The event in the set that comes first in a procedure's life.
  var first: ProcedureEvents? {
    isEmpty ? nil : ProcedureEvents(rawValue: rawValue & (~rawValue &+ 1))
  }
}
