#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The awaited descriptors, and the handlers to call when they are ready.
  ///
  /// Waits have identifiers of their own, since the number of a closed descriptor is reused.
  struct DescriptorWaits {
    enum Readiness { case reading, writing }

    typealias Identifier = UInt64

    private struct Wait {
      let identifier: Identifier
      let handler: @Sendable () -> Void
    }

    /// `entries[0]` is the wake-up descriptor; `entries[n + 1]` belongs to `waits[n]`.
    private var entries: [pollfd]
    private var waits: [Wait] = []
    private var positions: [Identifier: Int] = [:]
    private var lastIdentifier: Identifier = 0

    init(wakeUp: Int32) {
      entries = [pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)]
    }

    mutating func add(
      _ descriptor: Int32, _ readiness: Readiness, _ handler: @escaping @Sendable () -> Void
    ) -> Identifier {
      lastIdentifier += 1
      positions[lastIdentifier] = waits.count
      waits.append(Wait(identifier: lastIdentifier, handler: handler))
      let events = Int16(readiness == .reading ? POLLIN : POLLOUT)
      entries.append(pollfd(fd: descriptor, events: events, revents: 0))
      return lastIdentifier
    }

    mutating func remove(_ identifier: Identifier) { _ = take(identifier) }

    /// Ends a wait and returns its handler; nil if it was removed before.
    mutating func take(_ identifier: Identifier) -> (@Sendable () -> Void)? {
      guard let position = positions.removeValue(forKey: identifier) else { return nil }
      let handler = waits[position].handler
      // The last wait takes its position.
      if position != waits.count - 1 {
        waits[position] = waits[waits.count - 1]
        entries[position + 1] = entries[entries.count - 1]
        positions[waits[position].identifier] = position
      }
      waits.removeLast()
      entries.removeLast()
      return handler
    }

    /// Waits until a descriptor is ready, at most for `milliseconds`; -1 is forever.
    mutating func poll(milliseconds: Int32) -> (identifiers: [Identifier], isWokenUp: Bool) {
      let count = unsafe systemPoll(&entries, nfds_t(entries.count), milliseconds)
      guard count > 0 else { return ([], false) }
      var ready: [Identifier] = []
      for (wait, entry) in zip(waits, entries.dropFirst()) where entry.revents != 0 {
        ready.append(wait.identifier)
      }
      return (ready, entries[0].revents != 0)
    }
  }

  /// It needs another name, since a method is called `poll`.
  private func systemPoll(
    _ entries: UnsafeMutablePointer<pollfd>, _ count: nfds_t, _ milliseconds: Int32
  ) -> Int32 {
    unsafe poll(entries, count, milliseconds)
  }
#endif
