#if os(macOS) || os(Linux)
  internal import ProcedurePrimitives
  #if canImport(FoundationEssentials)
    package import FoundationEssentials
  #else
    package import Foundation
  #endif
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The pipe from one program to the next.
  ///
  /// 1. It is opened when the first of the two programs starts, so that a lack of descriptors shows
  ///    where the start is retried.
  /// 2. This process closes each end once: when its program has it, or will not start. Then the
  ///    other program meets the end of the file, or is ended by SIGPIPE.
  package final class ProcessPipe: Sendable {
    enum End { case reading, writing }

    private struct State {
      var reading: Int32?
      var writing: Int32?
      var isOpened = false
      var isReadingDone = false
      var isWritingDone = false
      // State for stand-ins of programs.
      var memory = Data()
      var reader: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    deinit {
      close(.reading)
      close(.writing)
    }

    /// The descriptor for a program; nil if it was closed, or the system has no descriptors left.
    func descriptor(_ end: End) -> Int32? {
      state.withLock { state in
        if !state.isOpened {
          guard let pair = FileDescriptorPair() else { return nil }
          state.isOpened = true
          (state.reading, state.writing) = (pair.reading, pair.writing)
          // The program at that end will not start.
          if state.isReadingDone { Self.close(&state.reading) }
          if state.isWritingDone { Self.close(&state.writing) }
        }
        return end == .reading ? state.reading : state.writing
      }
    }

    func close(_ end: End) {
      let reader = state.withLock { state in
        switch end {
        case .reading:
          state.isReadingDone = true
          Self.close(&state.reading)
        case .writing:
          state.isWritingDone = true
          Self.close(&state.writing)
        }
        return end == .writing ? state.reader.take() : nil
      }
      reader?()
    }

    /// Keeps the output of the first of two stand-ins.
    package func append(_ data: Data) { state.withLock { $0.memory.append(data) } }

    /// The whole output of the first stand-in.
    package var memory: Data { state.withLock { $0.memory } }

    /// Calls `body` once, when the writing program has ended, or will not start.
    package func whenWritten(_ body: @escaping @Sendable () -> Void) {
      let isWritten = state.withLock { state in
        if !state.isWritingDone { state.reader = body }
        return state.isWritingDone
      }
      if isWritten { body() }
    }

    private static func close(_ descriptor: inout Int32?) {
      guard let open = descriptor.take() else { return }
      closeDescriptor(open)
    }
  }

  /// It needs another name, since a method is called `close`.
  private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
#endif
