internal import Dispatch

/// What waits for a procedure to finish, and is notified when it has left its list.
enum FinishWaiter: Sendable {
  case task(CheckedContinuation<Void, Never>)
  case thread(DispatchSemaphore)
  case barrier(QueueBarriers.Ticket)

  func resume() {
    switch self {
    case .task(let continuation): continuation.resume()
    case .thread(let semaphore): semaphore.signal()
    case .barrier(let ticket): ticket.finished()
    }
  }
}
