internal import Dispatch
internal import Foundation

/// Threads of one's own, that no pool misses while they block.
enum Producers {
  /// Runs `body` on so many new threads at once, and returns when all of them have returned.
  static func run(threads: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) async {
    let group = DispatchGroup()
    for index in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        body(index)
        group.leave()
      }
    }
    await BareDispatch.finished(group)
  }
}
