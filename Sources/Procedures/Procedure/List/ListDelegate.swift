internal import ProcedurePrimitives

/// Receives the events of the members of a queue's list.
class ListDelegate: @unchecked Sendable {
  private let status = AtomicByte(0)

  /// Whether anything wants to be told. One atomic load.
  final var isWanted: Bool { status.load() != 0 }

  final func publish(isWanted: Bool) { status.store(isWanted ? 1 : 0) }

  /// To override.
  func tell(_ event: ProcedureEvents, of procedure: Procedure, errors: [any Error]) {}
}
