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

  /// All sources that signals cancel in this process.
  ///
  /// A signal handler may do next to nothing: it restores the signal's previous disposition, so
  /// that a second one is not caught even if the process is busy, and writes its number into a
  /// pipe. A thread reads the pipe and does the rest.
  final class SignalWatches: Sendable {
    static let shared = SignalWatches()

    private struct State: Sendable {
      /// The watches that each signal cancels. A signal with an entry is caught.
      var watches: [Int32: [SignalWatch]] = [:]
      var isAble: Bool?
    }

    private let state = Locked(State())

    /// Catches the signals from now on, as far as possible.
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

    /// Removes a watch, and restores the dispositions of signals that no other watch needs.
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

    /// Makes a pipe, and a thread that reads it. Called once, under the lock; that thread starts
    /// without it.
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
      // Its watch has ended meanwhile: send the signal again, as if it had come a moment later.
      if watches.isEmpty { _ = kill(getpid(), signal) }
      for watch in watches { watch.source.cancel(.signal(signal)) }
    }
  }
#endif
