import Cancellation
import Dispatch
import ProcedurePrimitives

/// Registrations that handlers look up when they run.
final class Slots: Sendable {
  private let registrations = Locked<[Int: CancellationRegistration]>([:])

  subscript(index: Int) -> CancellationRegistration {
    get {
      registrations.withLock { $0[index] } ?? CancellationToken.never.onCancel {}
    }
    set { registrations.withLock { $0[index] = newValue } }
  }
}

/// A thread that blocks as it likes, apart from the pool that tests run on.
enum Thread {
  static func detach(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "tests.thread").async(execute: body)
  }
}
