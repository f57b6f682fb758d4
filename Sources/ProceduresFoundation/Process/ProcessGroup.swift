#if os(macOS) || os(Linux)
  internal import Foundation
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The processes that share a group with the program that started it.
  struct ProcessGroup {
    /// The identifier of the group, and of its first process.
    let identifier: pid_t

    func signal(_ signal: Int32) { _ = killpg(identifier, signal) }

    /// Whether nothing of the group runs any more.
    ///
    /// Ended processes that nobody reaped do not count. There are some for as long as process 1
    /// likes, and in a container without an init for ever.
    var isGone: Bool {
      guard killpg(identifier, 0) == 0 else { return true }
      #if os(Linux)
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let identifiers = entries.compactMap { pid_t($0) }
        return !identifiers.isEmpty && !identifiers.contains(where: isRunningMember)
      #else
        return false
      #endif
    }

    #if os(Linux)
      private func isRunningMember(_ process: pid_t) -> Bool {
        // `123 (name) S 1 123 …`: the state, the parent, the group. The name may contain anything.
        guard
          let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
          let nameEnd = line.lastIndex(of: ")")
        else { return false }
        let fields = line[nameEnd...].split(separator: " ")
        guard fields.count > 3, pid_t(fields[3]) == identifier else { return false }
        return fields[1] != "Z" && fields[1] != "X"
      }
    #endif
  }
#endif
