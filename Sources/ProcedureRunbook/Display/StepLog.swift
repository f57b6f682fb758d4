import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file with all that a step wrote, made when there is something to write.
final class StepLog: @unchecked Sendable {
  private let path: String
  private let failed: @Sendable (_ sentence: String) -> Void
  private let lock = NSLock()
  private var descriptor: Int32?
  private var hasFailed = false

  /// - Parameter failed: called once, with what is wrong, when something could not be written.
  init(path: String, failed: @escaping @Sendable (_ sentence: String) -> Void) {
    self.path = path
    self.failed = failed
  }

  func append(_ data: Data) {
    let problem: String? = lock.withLock {
      guard !hasFailed else { return nil }
      let file = descriptor ?? open()
      guard file >= 0 else { return unsafe String(cString: strerror(errno)) }
      descriptor = file
      do throws(PatientWriter.Failure) {
        try PatientWriter(file).write(data)
        return nil
      } catch {
        guard case .refused(let reason) = error else { return "\(error)" }
        return reason
      }
    }
    guard let problem else { return }
    lock.withLock { hasFailed = true }
    failed("the log '\(path)' cannot be written: \(problem)")
  }

  func close() {
    lock.withLock {
      if let descriptor { _ = systemClose(descriptor) }
      descriptor = nil
    }
  }

  /// Written from the start by the first attempt of a run, and continued by the next ones.
  private var wasOpened = false

  private func open() -> Int32 {
    defer { wasOpened = true }
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (wasOpened ? O_APPEND : O_TRUNC)
    return systemOpen(path, flags, 0o666)
  }
}

// Under other names, since methods are called like them.

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  unsafe open(path, flags, mode)
}
