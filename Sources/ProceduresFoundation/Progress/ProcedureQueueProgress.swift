internal import Foundation
internal import ProcedurePrimitives

/// The share of finished procedures of a queue, as a Foundation progress.
final class ProcedureQueueProgress: SharedProgress, @unchecked Sendable {
  private let queue: ProcedureQueue
  private let counts = Locked(Counts())
  /// Held from reading `isPaused` until the queue's `isSuspended` is set.
  private let pauses = Locked(())

  private struct Counts: Sendable {
    var total: Int64 = 0
    var completed: Int64 = 0
    var seen: Set<ObjectIdentifier> = []
    var recorder: Int?
    var isCancelled = false
  }

  init(_ queue: ProcedureQueue) {
    self.queue = queue
    super.init(of: queue)
    isPausable = true
  }

  deinit {
    if let recorder = counts.withLock({ $0.recorder }) { queue.removeRecorder(recorder) }
  }

  override func begin() {
    #if canImport(Darwin)
      // On Darwin a parent calls the handlers, elsewhere the methods.
      cancellationHandler = { [weak self] in self?.cancelOnce() }
      pausingHandler = { [weak self] in self?.followPauses() }
      resumingHandler = { [weak self] in self?.followPauses() }
    #endif
    // Record later procedures first, then add the present ones: none is missed, and one may come
    // twice.
    let recorder = queue.record { [weak self] procedure in self?.add(procedure) }
    counts.withLock { $0.recorder = recorder }
    for procedure in queue.procedures { add(procedure) }
  }

  private func add(_ procedure: Procedure) {
    let isNew = counts.withLock { counts in
      let isNew = counts.seen.insert(ObjectIdentifier(procedure)).inserted
      if isNew { counts.total += 1 }
      return isNew
    }
    guard isNew else { return }
    show()
    procedure.addDidFinishBlockObserver { [weak self] procedure, _ in
      guard let self else { return }
      counts.withLock { counts in
        counts.seen.remove(ObjectIdentifier(procedure))
        counts.completed += 1
      }
      show()
    }
  }

  private func show() {
    setLatest({ counts.withLock { [$0.total, $0.completed] } }) { counts in
      change {
        if super.totalUnitCount != counts[0] { super.totalUnitCount = counts[0] }
        if super.completedUnitCount != counts[1] { super.completedUnitCount = counts[1] }
      }
    }
  }

  // MARK: To the queue

  /// Reads the present state, since handlers are called some time later, in any order.
  private func followPauses() {
    pauses.withLock { _ in queue.isSuspended = super.isPaused }
  }

  #if canImport(Darwin)
    /// Cancels the queue's procedures once, after a cancel of a parent or of this; procedures added
    /// later run.
    private func cancelOnce() {
      let isFirst = counts.withLock { counts in
        defer { counts.isCancelled = true }
        return !counts.isCancelled
      }
      if isFirst { queue.cancelAll() }
    }
  #endif

  override func cancel() {
    counts.withLock { $0.isCancelled = true }
    if !isCancelled { super.cancel() }
    queue.cancelAll()
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
    override var isPaused: Bool { queue.isSuspended }
  #else
    override var isPaused: Bool {
      get { queue.isSuspended }
      set { super.isPaused = newValue }
    }
  #endif
}
