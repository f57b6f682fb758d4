#if os(macOS) || os(Linux)
  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  struct ProcessGroup {
    /// The identifier of the group, and of its first process.
    let identifier: pid_t

    func signal(_ signal: Int32) { _ = killpg(identifier, signal) }

    /// Whether nothing of the group runs any more.
    ///
    /// Ended processes that were not reaped do not count: process 1 decides when to reap them, and
    /// a container without an init never does.
    var isGone: Bool {
      guard killpg(identifier, 0) == 0 else { return true }
      guard let states else { return false }
      return states.isEmpty
    }

    /// Its running members, each as `sleep 60 (process 4711)`; empty if the system does not list
    /// them.
    var commands: [String] {
      #if os(Linux)
        (members ?? []).map { process, _ in
          let words = (try? Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline"))) ?? Data()
          let command = words.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            .joined(separator: " ")
          return "\(command.isEmpty ? "a program" : command) (process \(process))"
        }
      #else
        []
      #endif
    }

    /// Whether all its running members sleep; false if that is not known.
    var isAsleep: Bool { states?.allSatisfy { $0 == "S" || $0 == "T" || $0 == "t" } ?? false }

    /// The states of its running members, as the system's letters; nil if they are not known.
    private var states: [Substring]? { members?.map(\.state) }

    /// Its running members; nil if they are not known.
    private var members: [(process: pid_t, state: Substring)]? {
      #if os(Linux)
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let identifiers = entries.compactMap { pid_t($0) }.sorted()
        guard !identifiers.isEmpty else { return nil }
        return identifiers.compactMap { process in state(of: process).map { (process, $0) } }
      #else
        return nil
      #endif
    }

    #if os(Linux)
      private func state(of process: pid_t) -> Substring? {
        // `123 (name) S 1 123 …`: the state, the parent, the group. The name may contain anything.
        guard
          let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
          let nameEnd = line.lastIndex(of: ")")
        else { return nil }
        let fields = line[nameEnd...].split(separator: " ")
        guard fields.count > 3, pid_t(fields[3]) == identifier else { return nil }
        return fields[1] == "Z" || fields[1] == "X" ? nil : fields[1]
      }
    #endif
  }
#endif
