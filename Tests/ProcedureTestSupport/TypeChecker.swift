internal import Foundation

/// Asks the compiler whether it refuses what must not compile.
///
/// It goes as far as the intermediate language, where ownership is checked, not only the types.
package struct TypeChecker {
  private let compiler: URL
  private let modules: URL

  /// The compiler of the toolchain in `PATH`, with the modules of this build; nil if one is
  /// missing.
  package static let current: TypeChecker? = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let compiler = path.split(separator: ":").lazy
      .map { URL(fileURLWithPath: String($0)).appendingPathComponent("swiftc") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    let modules = testBundle.resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("Modules")
    guard let compiler, FileManager.default.fileExists(atPath: modules.path) else { return nil }
    return TypeChecker(compiler: compiler, modules: modules)
  }()

  /// What the tests are in. With Xcode's tools another program loads it.
  private static var testBundle: URL {
    #if canImport(Darwin)
      if let bundle = Bundle.allBundles.first(where: { $0.bundlePath.hasSuffix(".xctest") }) {
        return bundle.bundleURL
      }
    #endif
    return URL(fileURLWithPath: CommandLine.arguments[0])
  }

  /// Where the standard library is, if not beside the compiler.
  private static let sdk: [String] = {
    #if canImport(Darwin)
      let (process, output) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: "/usr/bin/xcrun")
      process.arguments = ["--show-sdk-path"]
      process.standardOutput = output
      guard (try? process.run()) != nil else { return [] }
      let said = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return ["-sdk", String(decoding: said, as: UTF8.self).split(separator: "\n").joined()]
    #else
      return []
    #endif
  }()

  /// Compiles `source`, in which `// expected-error {{…}}` marks what must be refused.
  ///
  /// - Returns: what the compiler said beyond that; empty if it refused exactly this.
  package func verify(_ source: String) throws -> String {
    let (status, text) = try compile(
      source,
      arguments: [
        "-emit-sil", "-o", "/dev/null", "-verify", "-verify-ignore-unrelated",
      ])
    return status == 0 ? "" : "exit \(status): \(text)"
  }

  /// What the compiler refuses in each line of `source`, by the number of the line, from 1.
  ///
  /// - Parameter arguments: for example `["-default-isolation", "MainActor"]`.
  package func errors(
    in source: String, swiftVersion: String = "6", arguments: [String] = []
  ) throws -> [Int: [String]] {
    let (_, text) = try compile(
      source, swiftVersion: swiftVersion,
      arguments: ["-typecheck", "-diagnostic-style", "llvm"] + arguments)
    var errors: [Int: [String]] = [:]
    for line in text.split(separator: "\n") {
      guard let match = line.firstMatch(of: /Source\.swift:(\d+):\d+: error: (.*)/),
        let number = Int(match.1)
      else { continue }
      errors[number, default: []].append(String(match.2))
    }
    return errors
  }

  private func compile(
    _ source: String, swiftVersion: String = "6", arguments: [String]
  ) throws -> (status: Int32, text: String) {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("type-checker-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Source.swift")
    try source.write(to: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = compiler
    process.arguments =
      ["-frontend"] + Self.sdk + arguments
      + [
        "-swift-version", swiftVersion, "-I", modules.path,
        // That of the build: what the C library consists of is not compiled again for each source.
        "-module-cache-path",
        modules.deletingLastPathComponent().appending(path: "ModuleCache").path,
        file.path,
      ]
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: said, as: UTF8.self))
  }
}
