#if os(macOS) || os(Linux)
  internal import Foundation
  internal import ProcedurePrimitives
  internal import ProceduresProcess

  /// The destination of an output stream of a `FakeProgram`.
  struct FakeOutput {
    private let configuration: ProcessConfiguration
    private let destination: ProcessOutput
    /// The user's closure, if that receives the output. May be used from any thread.
    let handler: OutputHandler?
    private var captured: CapturedOutput
    private var isCaptured = false
    private var handedOver = Data()
    private var file: FileHandle?
    /// The end of the output, once it has ended.
    private(set) var outputEnd = OutputEnd()

    init(_ destination: ProcessOutput, _ configuration: ProcessConfiguration) {
      self.configuration = configuration
      self.destination = destination
      handler = OutputHandler(for: destination)
      captured = CapturedOutput(atMost: configuration.mostCapturedBytes)
      if case .captured = destination { isCaptured = true }
    }

    mutating func open() throws(ProcessError) {
      guard case .file(let path, let appending) = destination else { return }
      let place = configuration.place(ofFile: path)
      do {
        if !appending || !FileManager.default.fileExists(atPath: place.path) {
          try Data().write(to: place)
        }
        file = try FileHandle(forWritingTo: place)
      } catch {
        throw configuration.notOpened(path, ": \(error)")
      }
    }

    mutating func take(_ data: Data) {
      if isCaptured { captured.append(Array(data)) }
      if let handler {
        handler.take(data)
        handedOver = handedOver.suffix(OutputEnd.length) + data.suffix(OutputEnd.length)
      }
      if let file, (try? file.seekToEnd()) != nil { try? file.write(contentsOf: data) }
    }

    /// Called after the last piece.
    mutating func end() -> (bytes: Data, dropped: Int) {
      handler?.end()
      try? file.take()?.close()
      outputEnd = handler == nil ? captured.end : OutputEnd(of: handedOver)
      return captured.take()
    }
  }

  /// Files of standard streams.
  extension ProcessConfiguration {
    /// The URL of a path, relative to the program's directory.
    func place(ofFile path: String) -> URL {
      URL(
        filePath: path,
        relativeTo: directory.map { URL(filePath: $0, directoryHint: .isDirectory) })
    }

    func notOpened(_ path: String, _ reason: String = "") -> ProcessError {
      ProcessError(
        .fileNotOpened, program: program, "'\(path)', for '\(program)', cannot be opened\(reason)")
    }
  }
#endif
