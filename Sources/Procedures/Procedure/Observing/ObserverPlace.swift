public import Dispatch

/// Where an observer is called.
@usableFromInline
enum ObserverPlace: Sendable {
  /// On the worker that runs the procedure's turn.
  case worker
  case queue(DispatchQueue)
  case mainActor

  @usableFromInline
  init(_ queue: DispatchQueue?) {
    self = queue.map(ObserverPlace.queue) ?? .worker
  }
}

extension ObserverPlace {
  /// For people: "on the main actor".
  var words: String {
    switch self {
    case .worker: "on a worker"
    case .queue(let queue): "on queue '\(queue.label)'"
    case .mainActor: "on the main actor"
    }
  }

  /// Runs `work` there, later.
  func perform(_ work: @escaping @Sendable () -> Void) {
    switch self {
    case .worker: work()
    case .queue(let queue): queue.async(execute: work)
    case .mainActor: Task { @MainActor in work() }
    }
  }
}
