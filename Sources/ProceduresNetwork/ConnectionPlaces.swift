internal import Dispatch
internal import ProcedurePrimitives

/// Limits the requests to each origin at a time, as a session limits its connections.
///
/// The line is here, and not in libcurl, so that a transfer knows whether it waits in it.
final class ConnectionPlaces: Sendable {
  private struct Line: Sendable {
    var count = 0
    /// The requests of the places whose connections are held back, by the address of the place.
    var heldBack: [ObjectIdentifier: String] = [:]
    /// Since when all connections have been held back.
    var blockedSince: ContinuousClock.Instant?
    /// Places that were released meanwhile stay until it is their turn.
    var waiting = Fifo<ConnectionPlace>()
  }

  /// A line in which nothing moves until a sink does.
  struct Block {
    let since: ContinuousClock.Instant
    let count: Int
    /// The first few requests whose connections are held back.
    let names: [String]
  }

  private struct State: Sendable {
    var lines: [Origin: Line] = [:]
    /// Origins whose connections carry many requests at a time.
    var unlimited: Set<Origin> = []

    mutating func change(_ origin: Origin, _ body: (inout Line) -> Void) {
      var line = lines[origin, default: Line()]
      body(&line)
      let isBlocked = line.count > 0 && line.heldBack.count == line.count
      line.blockedSince = isBlocked ? line.blockedSince ?? DispatchTimers.shared.now : nil
      lines[origin] = line.count > 0 ? line : nil
    }
  }

  private let limit: Int
  /// Whether requests share connections, and not each has its own.
  private let sharesConnections: Bool
  private let state = Locked(State())

  init(limit: Int, sharesConnections: Bool) {
    (self.limit, self.sharesConnections) = (max(limit, 1), sharesConnections)
  }

  /// - Parameter origin: nil for a place without a limit.
  func makePlace(to origin: Origin?) -> ConnectionPlace { ConnectionPlace(origin, self) }

  /// True if there is a place. Otherwise `place` waits in line.
  fileprivate func admit(_ place: ConnectionPlace, to origin: Origin) -> Bool {
    state.withLock { state in
      if state.unlimited.contains(origin) || state.lines[origin, default: Line()].count < limit {
        state.change(origin) { $0.count += 1 }
        return true
      }
      state.lines[origin]?.waiting.append(place)
      return false
    }
  }

  /// Passes a place to the request that has waited longest, which begins on another thread.
  fileprivate func passOn(_ origin: Origin) {
    while true {
      let next = state.withLock { state -> ConnectionPlace? in
        if let next = state.lines[origin]?.waiting.popFirst() { return next }
        state.change(origin) { $0.count -= 1 }
        return nil
      }
      guard let next else { return }
      if let begin = next.claim() { return WorkLine.shared(.default).submit(begin) }
    }
  }

  fileprivate func hasLine(to origin: Origin) -> Bool {
    sharesConnections && state.withLock { $0.lines[origin]?.waiting.first != nil }
  }

  /// Notes whether the connection of `place` is held back, by a sink that is slow or waits.
  ///
  /// - Parameter name: its request; nil if it is not held back.
  fileprivate func note(_ place: ConnectionPlace, to origin: Origin, heldBackAs name: String?) {
    state.withLock { state in
      state.change(origin) { $0.heldBack[ObjectIdentifier(place)] = name }
    }
  }

  fileprivate func block(to origin: Origin) -> Block? {
    state.withLock { state in
      guard let line = state.lines[origin], let since = line.blockedSince else { return nil }
      return Block(since: since, count: line.count, names: line.heldBack.values.sorted())
    }
  }

  fileprivate func liftLimit(to origin: Origin) {
    let waiting = state.withLock { state -> [ConnectionPlace] in
      state.unlimited.insert(origin)
      var waiting: [ConnectionPlace] = []
      while let next = state.lines[origin]?.waiting.popFirst() { waiting.append(next) }
      state.change(origin) { $0.count += waiting.count }
      return waiting
    }
    for place in waiting {
      if let begin = place.claim() {
        WorkLine.shared(.default).submit(begin)
      } else {
        passOn(origin)
      }
    }
  }
}

/// The place of one request among the connections to its origin.
///
/// ```
/// made → waiting → held → released         (released at any time)
/// ```
final class ConnectionPlace: Sendable {
  private enum State: Sendable {
    case made
    case waiting(@Sendable () -> Void)
    case held
    case released
  }

  private let origin: Origin?
  private let places: ConnectionPlaces
  private let state = Locked(State.made)

  fileprivate init(_ origin: Origin?, _ places: ConnectionPlaces) {
    (self.origin, self.places) = (origin, places)
  }

  /// Calls `begin` when it is the turn of this place, at once or later; never after `leave()`.
  /// Called once.
  func enter(_ begin: @escaping @Sendable () -> Void) {
    let isMade = state.withLock { state in
      guard case .made = state else { return false }
      state = .waiting(begin)
      return true
    }
    guard isMade, origin.map({ places.admit(self, to: $0) }) ?? true else { return }
    if let begin = claim() {
      begin()
    } else if let origin {
      places.passOn(origin)
    }
  }

  /// It is the turn of this place. Nil if it was released while it waited.
  fileprivate func claim() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard case .waiting(let begin) = state else { return nil }
      state = .held
      return begin
    }
  }

  /// Releases the place, or leaves the line. Later calls have no effect.
  func leave() {
    // `before` has the closure, which is released outside the lock.
    let before = state.withLock { exchange(&$0, with: .released) }
    guard case .held = before, let origin else { return }
    places.note(self, to: origin, heldBackAs: nil)
    places.passOn(origin)
  }

  /// Notes whether a sink holds the connection back.
  ///
  /// - Parameter name: the request; nil if the connection is not held back any more.
  func note(heldBackAs name: String?) {
    guard let origin else { return }
    // Not after the place was released.
    state.withLock { state in
      if case .held = state { places.note(self, to: origin, heldBackAs: name) }
    }
  }

  /// Nil if a connection to its origin moves, or may.
  var block: ConnectionPlaces.Block? { origin.flatMap { places.block(to: $0) } }

  /// Whether requests wait in line that may share its connection.
  var isWanted: Bool { origin.map { places.hasLine(to: $0) } ?? false }

  /// From now on any number of requests to the origin have places.
  func liftLimit() {
    if let origin { places.liftLimit(to: origin) }
  }
}
