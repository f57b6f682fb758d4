internal import Foundation
internal import ProcedurePrimitives

/// The fraction of a procedure, as a Foundation progress.
final class ProcedureProgress: SharedProgress, @unchecked Sendable {
  private static let units: Int64 = 1_000_000

  private let procedure: Procedure
  private let state = Locked(State())
  /// Held from reading `isPaused` until the group's `isSuspended` is set.
  private let pauses = Locked(())

  private struct State: Sendable {
    var reader: Task<Void, Never>?
    /// The current fraction, once the procedure is watched: reading it does not visit each child of
    /// a group.
    var fraction: (@Sendable () -> Double)?
    var hasFinished = false
  }

  init(_ procedure: Procedure) {
    self.procedure = procedure
    super.init(of: procedure)
    super.totalUnitCount = Self.units
    isPausable = procedure is GroupProcedure
  }

  deinit { state.withLock { $0.reader.take() }?.cancel() }

  override func begin() {
    let (changes, fraction) = procedure.fractionChanges
    state.withLock { $0.fraction = fraction }
    show()
    #if canImport(Darwin)
      // On Darwin a parent calls the handlers, elsewhere the methods.
      cancellationHandler = { [weak procedure] in procedure?.cancel() }
      if procedure is GroupProcedure {
        pausingHandler = { [weak self] in self?.followPauses() }
        resumingHandler = { [weak self] in self?.followPauses() }
      }
    #endif
    procedure.cancellationToken.onCancel { [weak self] in self?.noteCancel() }
    procedure.addDidFinishBlockObserver { [weak self] _, _ in self?.finish() }
    let reader = Task { [weak self] in
      for await _ in changes { self?.show() }
    }
    let isWanted = state.withLock { state in
      if !state.hasFinished { state.reader = reader }
      return !state.hasFinished
    }
    if !isWanted { reader.cancel() }
  }

  // MARK: From the procedure

  private func show() {
    setLatest({ unitsNow }) { units in
      // The procedure may have finished since the fraction was read: a wait that has ended must not
      // find it unfinished.
      change { super.completedUnitCount = hasFinished ? super.totalUnitCount : units }
    }
  }

  private var unitsNow: Int64 {
    let (hasFinished, latest) = state.withLock { ($0.hasFinished, $0.fraction) }
    let fraction = hasFinished ? 1 : latest?() ?? procedure.fractionCompleted
    var total: Int64 = 0
    change { total = super.totalUnitCount }
    // The product may round up to the total, but not above it.
    return fraction < 1 ? min(Int64((fraction * Double(total)).rounded()), total) : total
  }

  private var hasFinished: Bool { state.withLock { $0.hasFinished } }

  /// Called before any wait for the procedure returns.
  private func finish() {
    let reader = state.withLock { state in
      state.hasFinished = true
      return state.reader.take()
    }
    reader?.cancel()
    show()
  }

  private func noteCancel() {
    if !isCancelled { super.cancel() }
  }

  // MARK: To the procedure

  /// Reads the present state, since handlers are called some time later, in any order.
  private func followPauses() {
    pauses.withLock { _ in (procedure as? GroupProcedure)?.isSuspended = super.isPaused }
  }

  override func cancel() {
    noteCancel()
    procedure.cancel()
  }

  override func pause() {
    super.pause()
    followPauses()
  }

  override func resume() {
    super.resume()
    followPauses()
  }

  #if canImport(Darwin)
    override var isPaused: Bool { (procedure as? GroupProcedure)?.isSuspended ?? super.isPaused }
  #else
    override var isPaused: Bool {
      get { (procedure as? GroupProcedure)?.isSuspended ?? super.isPaused }
      set { super.isPaused = newValue }
    }
  #endif

  override var totalUnitCount: Int64 {
    get { super.totalUnitCount }
    set {
      // Foundation on Linux divides by it, and multiplies it by the totals of the tree.
      change { super.totalUnitCount = min(max(newValue, 1), 1 << 53) }
      show()
    }
  }

  override var completedUnitCount: Int64 {
    get { super.completedUnitCount }
    set {
      let total = super.totalUnitCount
      let count = min(max(newValue, 0), total)
      procedure.report(fractionCompleted: Double(count) / Double(total))
      change { if !hasFinished { super.completedUnitCount = count } }
      if hasFinished { show() }
    }
  }
}
