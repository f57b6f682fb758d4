#if canImport(FoundationNetworking)
  internal import Dispatch
  internal import ProcedurePrimitives

  /// Limits the requests to each origin that have connections of their own at a time, as a session
  /// limits its connections.
  final class ConnectionPlaces: Sendable {
    private struct Line: Sendable {
      var count = 0
      var waiting = Fifo<@Sendable () -> Void>()
    }

    private let limit: Int
    private let lines = Locked<[Origin?: Line]>([:])

    init(limit: Int) { self.limit = max(limit, 1) }

    /// Calls `begin` when there is a place, at once or later. `leave` must release the place.
    func enter(_ origin: Origin?, _ begin: @escaping @Sendable () -> Void) {
      let isFree = lines.withLock { lines in
        if lines[origin, default: Line()].count < limit {
          lines[origin, default: Line()].count += 1
          return true
        }
        lines[origin]?.waiting.append(begin)
        return false
      }
      if isFree { begin() }
    }

    /// Releases a place, or passes it to the request that has waited longest, which begins on
    /// another thread.
    func leave(_ origin: Origin?) {
      let next = lines.withLock { lines -> (@Sendable () -> Void)? in
        if let next = lines[origin]?.waiting.popFirst() { return next }
        lines[origin]?.count -= 1
        if lines[origin]?.count == 0 { lines[origin] = nil }
        return nil
      }
      if let next { WorkLine.shared(.default).submit(next) }
    }
  }
#endif
