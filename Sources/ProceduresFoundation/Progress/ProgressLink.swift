internal import Foundation
internal import ProcedurePrimitives

/// Makes a procedure report the fraction of a Foundation progress.
///
/// Unchecked because of the observations, which only `begin` sets.
final class ProgressLink: @unchecked Sendable {
  private let progress: Progress
  private let reporter: Weak<Procedure>
  #if canImport(Darwin)
    private var observations: [NSKeyValueObservation] = []
  #else
    private static let interval = Duration.milliseconds(100)
  #endif

  init(_ progress: Progress, to procedure: Procedure) {
    self.progress = progress
    reporter = Weak(procedure)
  }

  func begin() {
    #if canImport(Darwin)
      observations = [
        progress.observe(\.fractionCompleted) { [weak self] _, _ in self?.pass() },
        progress.observe(\.isCancelled) { [weak self] _, _ in self?.pass() },
      ]
      pass()
    #else
      sample()
    #endif
  }

  func cancelProgress() {
    if !progress.isCancelled { progress.cancel() }
  }

  private func pass() {
    reporter.object?.report(fractionCompleted: progress.fractionCompleted)
    if progress.isCancelled { reporter.object?.cancel() }
  }

  #if !canImport(Darwin)
    private func sample() {
      pass()
      guard !progress.isFinished else { return }
      let service = DispatchTimers.shared
      let sampler = ProgressSampler { [weak self] in self?.sample() }
      _ = service.schedule(sampler, at: service.now.advanced(by: Self.interval))
    }
  #endif
}

#if !canImport(Darwin)
  /// Reads a progress again, on another thread than the timers'.
  private final class ProgressSampler: TimerTarget {
    private let sample: @Sendable () -> Void

    init(_ sample: @escaping @Sendable () -> Void) { self.sample = sample }

    func timerFired() { DispatchTimers.shared.deliver(sample) }
  }
#endif

/// Keeps a link until the procedure has finished, or is deallocated.
final class ProgressLinkOwner: ProcedureObserver {
  private let link: ProgressLink

  init(_ link: ProgressLink) { self.link = link }

  var events: ProcedureEvents { .didFinish }
}
