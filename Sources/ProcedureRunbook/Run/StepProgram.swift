import Procedures
import ProceduresProcess

/// The program of a step: it has succeeded when it has ended well and its outputs are there.
class StepProgram: ProcessProcedure, @unchecked Sendable {
  private let freshness: StepFreshness?

  /// - Parameter freshness: nil for a step without outputs.
  init(_ configuration: ProcessConfiguration, makes freshness: StepFreshness?) {
    self.freshness = freshness
    super.init(configuration)
  }

  override func programDidEnd(with result: ProcessResult) {
    guard let freshness, case .status(0) = result.exit else {
      return super.programDidEnd(with: result)
    }
    freshness.lookForOutputs { missing in
      if missing.isEmpty {
        super.programDidEnd(with: result)
      } else {
        self.finish(withResult: .failure(StepCheckFailed(missing: missing)))
      }
    }
  }
}
