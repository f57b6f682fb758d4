#if os(macOS) || os(Linux)
  internal import Dispatch
  internal import Foundation
  internal import ProcedurePrimitives
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Waits for file descriptors to become ready, with one thread for all programs together.
  ///
  /// Not Dispatch sources: with them our tests crashed on Linux, in Dispatch's own event loop, most
  /// times they ran, while pipes closed and their sources were cancelled. The stack is that of a
  /// known use after free there (swift-corelibs-libdispatch issue 949).
  ///
  /// 1. A wait is over after one call of its handler, or by `forget`.
  /// 2. After `forget` the handler is not called, if `forget` runs on the queue of the wait.
  ///    The descriptor may then be closed: should its number come back while the thread still
  ///    polls it, that is a needless look, because waits are told apart by identifiers of their own.
  final class DescriptorMonitor: Sendable {
    enum Readiness { case reading, writing }

    typealias Identifier = UInt64

    private struct Wait {
      let descriptor: Int32
      let events: Int16
      let queue: DispatchQueue
      let handler: @Sendable () -> Void
      var isDelivered = false
    }

    private struct Waits {
      var byIdentifier: [Identifier: Wait] = [:]
      var lastIdentifier: Identifier = 0
    }

    static let shared = DescriptorMonitor()

    private let waits = Locked(Waits())
    private let wakeUp: FileDescriptorPair?

    private init() {
      wakeUp = FileDescriptorPair()
      if let wakeUp {
        FileDescriptorPair.makeNonBlocking(wakeUp.reading)
        FileDescriptorPair.makeNonBlocking(wakeUp.writing)
      }
      Thread.detachNewThread { self.run() }
    }

    /// Calls `handler` on `queue` once, when the descriptor is ready, closed by its peer, or broken.
    func wait(
      for descriptor: Int32, _ readiness: Readiness, on queue: DispatchQueue,
      handler: @escaping @Sendable () -> Void
    ) -> Identifier {
      let events = Int16(readiness == .reading ? POLLIN : POLLOUT)
      let wait = Wait(descriptor: descriptor, events: events, queue: queue, handler: handler)
      let identifier = waits.withLock { waits in
        waits.lastIdentifier += 1
        waits.byIdentifier[waits.lastIdentifier] = wait
        return waits.lastIdentifier
      }
      wake()
      return identifier
    }

    func forget(_ identifier: Identifier) {
      // The closure is released after the lock.
      _ = waits.withLock { $0.byIdentifier.removeValue(forKey: identifier) }
      wake()
    }

    private func wake() {
      guard let wakeUp else { return }
      var byte: UInt8 = 0
      _ = unsafe write(wakeUp.writing, &byte, 1)
    }

    private func run() {
      while true {
        let pending = waits.withLock { Array($0.byIdentifier.filter { !$0.value.isDelivered }) }
        var entries = pending.map {
          pollfd(fd: $0.value.descriptor, events: $0.value.events, revents: 0)
        }
        entries.append(pollfd(fd: wakeUp?.reading ?? -1, events: Int16(POLLIN), revents: 0))
        // Without a pipe to be woken by, which only a process out of descriptors lacks, look often.
        _ = unsafe poll(&entries, nfds_t(entries.count), wakeUp == nil ? 10 : -1)
        if let wakeUp, entries[pending.count].revents != 0 { drain(wakeUp.reading) }
        for ((identifier, wait), entry) in zip(pending, entries) where entry.revents != 0 {
          deliver(identifier, wait)
        }
      }
    }

    private func deliver(_ identifier: Identifier, _ wait: Wait) {
      // No longer polled from here on, or it would be found ready again before it is handled.
      let isWaiting = waits.withLock { waits in
        waits.byIdentifier[identifier]?.isDelivered = true
        return waits.byIdentifier[identifier] != nil
      }
      guard isWaiting else { return }
      wait.queue.async { [self] in
        let wait = waits.withLock { $0.byIdentifier.removeValue(forKey: identifier) }
        // nil: forgotten after the thread saw it ready.
        wait?.handler()
      }
    }

    private func drain(_ descriptor: Int32) {
      var bytes = [UInt8](repeating: 0, count: 256)
      while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }
  }
#endif
