import Procedures
import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The program of a step: the step succeeds if the program succeeds and its outputs exist.
///
/// It cannot end programs of another user, as with `sudo`: then it reports their process group.
class StepProgram: ProcessProcedure, @unchecked Sendable {
  private let freshness: StepFreshness?
  private let isElsewhere: Bool
  private let complain: @Sendable (String) -> Void
  let warn: @Sendable (String) -> Void

  /// - Parameters:
  ///   - freshness: nil for a step without a record.
  ///   - isElsewhere: whether a launcher runs it, perhaps on another machine.
  ///   - complain: called with a sentence about a program that cannot be ended.
  ///   - warn: called with a sentence about programs that were left in the background.
  init(
    _ configuration: ProcessConfiguration, makes freshness: StepFreshness?,
    isElsewhere: Bool, complain: @escaping @Sendable (String) -> Void,
    warn: @escaping @Sendable (String) -> Void
  ) {
    self.freshness = freshness
    self.isElsewhere = isElsewhere
    (self.complain, self.warn) = (complain, warn)
    super.init(configuration)
  }

  override func programDidEnd(with result: ProcessResult) {
    if let sentence = result.sentenceAboutLeftOver() { warn(sentence) }
    guard let freshness, case .status(0) = result.exit else {
      return super.programDidEnd(with: result)
    }
    freshness.check(began: .now - result.duration, isElsewhere: isElsewhere) { problem in
      if let problem {
        self.finish(withResult: .failure(problem))
      } else {
        super.programDidEnd(with: result)
      }
    }
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    super.procedureDidCancel(withErrors: errors)
    if let reason = obstacle { complain("\(reason); its end is waited for") }
  }

  override func procedureDidFinish(withErrors errors: [any Error]) {
    super.procedureDidFinish(withErrors: errors)
    if let reason = obstacle { complain("\(reason), and goes on") }
  }

  /// The reason why its process group cannot be signalled; nil if it can, or if it has ended.
  private var obstacle: String? {
    guard let group = processGroup, killpg(group, 0) != 0, errno == EPERM else { return nil }
    return "process group \(group) may not be signalled: it is another user's"
  }
}

extension ProcessResult {
  /// A sentence about programs in the background, which were stopped with it: without it, later
  /// steps would miss them and no message would say why. nil if there were none.
  func sentenceAboutLeftOver(ofService isService: Bool = false) -> String? {
    guard let left = endedDescendants else { return nil }
    let first = left.prefix(3).map { $0.shortened }.joined(separator: ", ")
    let others = left.count > 3 ? " and \(left.count - 3) more" : ""
    return "stopped with it what it left in the background"
      + (left.isEmpty ? "" : ": \(first)\(others)")
      + (isService
        ? "; the command of a service must stay in front"
        : "; for other steps it must be a service: \"service\": true")
  }
}
