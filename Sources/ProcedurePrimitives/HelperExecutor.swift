/// Where the tasks run that a call of this library makes for its caller, which awaits them.
///
/// Usually Swift decides that. In a simulation they run in it: it would not see their steps
/// elsewhere.
public enum HelperExecutor {
  private final class Replacement: Sendable {
    let executor: any TaskExecutor

    init(_ executor: any TaskExecutor) { self.executor = executor }
  }

  /// That of a task: it was made in `replacing`, or by such a task.
  private static let ofTask = TaskLocal<Replacement?>(wrappedValue: nil)
  /// The address of that of a thread which is in `replacing`: a task that was made before may take
  /// a step there.
  private static let ofThread = ThreadWord()

  /// Whether there ever was a replacement.
  private static let wasReplaced = AtomicByte(0)

  /// The executor that such a task prefers; nil for none. One atomic load until the first
  /// replacement of the process.
  public static var current: (any TaskExecutor)? {
    if wasReplaced.load() == 0 { return nil }
    guard let address = unsafe UnsafeRawPointer(bitPattern: ofThread.value) else {
      return ofTask.get()?.executor
    }
    return unsafe Unmanaged<Replacement>.fromOpaque(address).takeUnretainedValue().executor
  }

  /// Such tasks prefer `executor` while `body` runs, on this thread and in tasks that it starts.
  public static func replacing<Result>(
    with executor: any TaskExecutor, _ body: () throws -> Result
  ) rethrows -> Result {
    wasReplaced.store(1)
    let replacement = Replacement(executor)
    let outer = ofThread.value
    ofThread.value = unsafe UInt(bitPattern: Unmanaged.passUnretained(replacement).toOpaque())
    defer { ofThread.value = outer }
    // The task-local value keeps it while `body` runs.
    return try ofTask.withValue(replacement, operation: body)
  }
}
