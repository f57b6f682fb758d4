import Foundation
import Procedures
import ProceduresProcess
import Testing

@testable import ProcedureRunbook

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The built executable, run as a user would, in a directory that goes with it.
final class RunbookExecutable: Sendable {
  struct Execution {
    let exit: ProcessExit
    let output: String
    let errorOutput: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// A fresh directory that the runs work in.
  let directory: URL
  private let path: String

  init() throws {
    path = try #require(Self.path, "the executable 'runbook' is not beside the tests")
    directory = FileManager.default.temporaryDirectory.appending(path: "RunbookTests-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Makes a pipe with a name, by which steps wait for each other and for the test.
  func makePipe(_ name: String) throws {
    let path = directory.appending(path: name).path
    try #require(unsafe mkfifo(path, 0o600) == 0, "\(name): \(errno)")
  }

  /// Waits until something is written to a pipe.
  func waitForPipe(_ name: String) {
    // Foundation's own reading refuses a pipe at once.
    _ = try? InputFile(directory.appending(path: name).path).contents()
  }

  /// Lets go what waits for a pipe.
  func writePipe(_ name: String) {
    _ = OutputFile.write("go\n", to: directory.appending(path: name).path)
  }

  /// Runs a plan, given as JSON, in the directory.
  func run(
    plan: String, _ options: String...,
    onOutput: @escaping @Sendable (_ text: String, _ process: Int32) -> Void = { _, _ in }
  ) async throws -> Execution {
    try Data(plan.utf8).write(to: directory.appending(path: "plan.json"))
    return try await run(options + ["plan.json"], onOutput: onOutput)
  }

  /// Runs with these arguments; `onOutput` is called with all output so far whenever there is more.
  func run(
    _ arguments: [String], program: String? = nil, environment: [String: String] = [:],
    onOutput: @escaping @Sendable (_ text: String, _ process: Int32) -> Void = { _, _ in }
  ) async throws -> Execution {
    let output = Output()
    let procedure = ProcessProcedure(program ?? path, arguments: arguments) { configuration in
      configuration.directory = directory.path
      configuration.environment.set(environment)
      configuration.successStatuses = Set(0...255)
      configuration.standardOutput = .streamed { output.append($0) }
    }
    output.handler = { [weak procedure] text in
      if let process = procedure?.processIdentifier { onOutput(text, process) }
    }
    _ = await ProcedureQueue().run(procedure)
    output.handler = nil
    let result = try #require(procedure.result, "\(procedure.errors)")
    return Execution(exit: result.exit, output: output.text, errorOutput: result.errorText)
  }

  /// The text in a file of the directory.
  func text(_ name: String) -> String? {
    try? String(contentsOf: directory.appending(path: name), encoding: .utf8)
  }

  func hasFile(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: directory.appending(path: name).path)
  }

  /// Beside the test bundle, wherever that was built.
  static let path: String? = {
    var places = CommandLine.arguments + Bundle.allBundles.map(\.bundlePath)
    places = places.filter { $0.contains(".xctest") || $0 == CommandLine.arguments[0] }
    for place in places {
      var directory = URL(filePath: place).deletingLastPathComponent()
      for _ in 0..<4 {
        let candidate = directory.appending(path: "runbook").path
        if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        directory.deleteLastPathComponent()
      }
    }
    return nil
  }()

  private final class Output: @unchecked Sendable {
    private let lock = NSLock()
    private var data = Data()
    private var storedHandler: (@Sendable (String) -> Void)?

    var text: String { String(decoding: lock.withLock { data }, as: UTF8.self) }

    var handler: (@Sendable (String) -> Void)? {
      get { lock.withLock { storedHandler } }
      set { lock.withLock { storedHandler = newValue } }
    }

    func append(_ piece: Data) {
      lock.withLock { data += piece }
      handler?(text)
    }
  }
}
