internal import Synchronization

/// Lets several threads go at the same moment, closer together than a lock could.
///
/// A thread that finds itself alone for long goes on: with fewer cores than parties the others may
/// not have been started yet.
package final class SpinGate: Sendable {
  private let missing: Atomic<Int>

  package init(parties: Int) {
    missing = Atomic(parties)
  }

  package func arriveAndSpin() {
    missing.subtract(1, ordering: .acquiringAndReleasing)
    var spins = 0
    while missing.load(ordering: .acquiring) > 0, spins < 20_000 { spins += 1 }
  }
}
