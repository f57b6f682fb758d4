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
    /// The first signal cancels, and restores the previous dispositions of all of `signals`: so a
    /// second Ctrl-C ends a program that does not end by itself. It works from the first line of
    /// `main`, in an `async` main too, even if Dispatch's queues are busy. For a part of the
    /// program's life use `withCancellationToken(signals:)`: this token stays in effect until a
    /// signal arrives, even if no code uses it any more.
    ///
    /// A process that was started with `SIGHUP` ignored, as by `nohup`, goes on ignoring it; any
    /// other ignored signal is caught. If the system has no descriptor or no thread left, the
    /// signals keep their dispositions. One signal cancels all tokens for it.
    ///
    /// ## Thread
    /// Handlers of the token run on the thread that waits for signals; a handler that blocks delays
    /// other tokens of signals. The reason is `.signal`, with the signal's number.
    public static func signals(_ signals: ProcessSignal...) -> CancellationToken {
      SignalWatches.shared.add(signals).source.token
    }
  }

  /// The signal of a reason.
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

  /// Runs `body` with a token that is cancelled when this process gets one of `signals`, instead of
  /// ending.
  ///
  /// ```swift
  /// try await withCancellationToken(signals: .interrupt) { token in
  ///   try await download(all, token: token)
  /// }   // from now on Ctrl-C ends the program again
  /// ```
  ///
  /// It works like `CancellationToken.signals` until `body` returns or throws: then the previous
  /// dispositions of the signals are restored, and the token completes *not cancelled*. A signal
  /// that arrives at that moment is not lost: if no token was cancelled by it, it is sent again.
  public func withCancellationToken<Result>(
    signals: ProcessSignal..., body: (CancellationToken) async throws -> Result
  ) async rethrows -> Result {
    let watch = SignalWatches.shared.add(signals)
    defer { SignalWatches.shared.remove(watch) }
    return try await body(watch.source.token)
  }
#endif
