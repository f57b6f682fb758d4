#if os(macOS) || os(Linux)
  internal import Cancellation
  internal import ProcedurePrimitives
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// A source that some signals cancel.
  final class SignalWatch: Sendable {
    let source = CancellationTokenSource()
    let signals: Set<Int32>

    init(_ signals: [ProcessSignal]) { self.signals = Set(signals.map(\.number)) }
  }

  /// All that is cancelled by signals in this process.
  ///
  /// A signal handler may do next to nothing: it gives the signal its previous disposition back, so that a
  /// second one is not caught whatever the process is busy with, and writes its number into a pipe. A
  /// thread reads the pipe and does the rest.
  final class SignalWatches: Sendable {
    static let shared = SignalWatches()

    private struct State: Sendable {
      /// Those that a signal cancels. One that is here is caught.
      var watches: [Int32: [SignalWatch]] = [:]
      var isAble: Bool?
    }

    private let state = Locked(State())

    /// From now on the signals are caught, as far as that is possible.
    func add(_ signals: [ProcessSignal]) -> SignalWatch {
      let watch = SignalWatch(signals)
      state.withLock { state in
        let isAble = state.isAble ?? begin()
        state.isAble = isAble
        guard isAble else { return }
        for signal in watch.signals {
          if state.watches[signal] != nil || SignalHandler.install(for: signal) {
            state.watches[signal, default: []].append(watch)
          }
        }
      }
      return watch
    }

    /// The signals that nothing else wants have their previous dispositions.
    func remove(_ watch: SignalWatch) {
      state.withLock { state in remove(watch, from: &state) }
      watch.source.complete()
    }

    private func remove(_ watch: SignalWatch, from state: inout State) {
      for signal in watch.signals {
        guard var watches = state.watches[signal] else { continue }
        watches.removeAll { $0 === watch }
        state.watches[signal] = watches.isEmpty ? nil : watches
        if watches.isEmpty { SignalHandler.uninstall(for: signal) }
      }
    }

    /// A pipe, and a thread that reads it. Called once, under the lock, which that thread does not need for
    /// it.
    private func begin() -> Bool {
      guard let descriptor = SignalHandler.openPipe() else { return false }
      return BackgroundThread.start { self.readSignals(from: descriptor) }
    }

    private func readSignals(from descriptor: Int32) {
      while true {
        var byte: UInt8 = 0
        guard unsafe read(descriptor, &byte, 1) == 1 else { continue }
        noteArrival(of: Int32(byte))
      }
    }

    private func noteArrival(of signal: Int32) {
      let watches = state.withLock { state in
        let watches = state.watches[signal] ?? []
        for watch in watches { remove(watch, from: &state) }
        return watches
      }
      // Its watch has ended meanwhile: the signal counts as a moment later.
      if watches.isEmpty { _ = kill(getpid(), signal) }
      for watch in watches { watch.source.cancel(.signal(signal)) }
    }
  }
#endif
