import ProceduresProcess

/// The program of a service: its end is a failure, unless this process has ended it.
final class ServiceProgram: StepProgram, @unchecked Sendable {
  private let service: Service

  init(
    _ configuration: ProcessConfiguration, of service: Service,
    complain: @escaping @Sendable (String) -> Void
  ) {
    self.service = service
    super.init(configuration, makes: nil, isElsewhere: false, complain: complain, warn: complain)
  }

  override func programDidEnd(with result: ProcessResult) {
    if let sentence = result.sentenceAboutLeftOver(ofService: true) { warn(sentence) }
    finish(
      withResult: .failure(StepCheckFailed(description: service.reason(for: result.exit))))
  }
}
