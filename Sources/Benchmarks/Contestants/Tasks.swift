/// Tasks of Swift's own pool.
enum Tasks {
  /// Child tasks of one group.
  static func run(_ count: Int, _ work: @escaping @Sendable () -> Void) async {
    await withDiscardingTaskGroup { group in
      for _ in 0..<count { group.addTask { work() } }
    }
  }
}
