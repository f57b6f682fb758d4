#if os(macOS) || os(Linux)
  public import Cancellation

  /// Tokens that a signal cancels.
  extension CancellationToken {
    /// A token that is cancelled when this process gets one of `signals`, instead of ending.
    ///
    /// ```swift
    /// queue.add(backup, cancelledBy: .signals(.interrupt, .terminate))
    /// ```
    ///
    /// The first signal cancels, and gives all of `signals` back the dispositions that they had before: so a second
    /// Ctrl-C ends a program that does not come to its end. Works from the first line of `main`, in an
    /// `async` main too, whatever Dispatch's queues are busy with. For a part of the program's life there
    /// is `withCancellationToken(signals:)`: this one counts until a signal comes, also when nothing looks at
    /// the token any more.
    ///
    /// A process that was started with `SIGHUP` ignored, as by `nohup`, goes on ignoring it; another signal that was
    /// ignored is caught. If the system
    /// has neither a descriptor nor a thread to give, signals are left as they are. Several tokens for one
    /// signal are all cancelled by it.
    ///
    /// ## Thread
    /// Handlers of the token run on a thread of their own that waits for signals; a handler that blocks delays
    /// other tokens of signals. The reason is `.signal`, with the signal's number.
    public static func signals(_ signals: ProcessSignal...) -> CancellationToken {
      SignalWatches.shared.add(signals).source.token
    }
  }

  /// Which signal it was.
  extension CancellationReason {
    /// The signal, if one cancelled the token.
    ///
    /// ```swift
    /// await queue.waitUntilAllFinished()
    /// if let signal = token.reason?.processSignal { exit(signal.exitStatus) }
    /// ```
    public var processSignal: ProcessSignal? {
      if case .signal(let number) = self { ProcessSignal(number: number) } else { nil }
    }
  }

  /// Runs `body` with a token that is cancelled when this process gets one of `signals`, instead of ending.
  ///
  /// ```swift
  /// try await withCancellationToken(signals: .interrupt) { token in
  ///   try await download(all, token: token)
  /// }   // from here on Ctrl-C ends the program again
  /// ```
  ///
  /// As `CancellationToken.signals`, until `body` returns or throws: then the signals have the
  /// dispositions that they had before, and the token completes *not cancelled*. A signal that comes at
  /// that moment is not lost: if nothing has taken it, it is sent again.
  public func withCancellationToken<Result>(
    signals: ProcessSignal..., body: (CancellationToken) async throws -> Result
  ) async rethrows -> Result {
    let watch = SignalWatches.shared.add(signals)
    defer { SignalWatches.shared.remove(watch) }
    return try await body(watch.source.token)
  }
#endif
