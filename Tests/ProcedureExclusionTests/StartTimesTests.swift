import Cancellation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import ProcedureExclusion

/// The places of a rate in the table.
@Suite(.hangLimit) struct StartTimesTests {
  /// A request with a clock of its own.
  private final class TimedRequest: ExclusionRequest, @unchecked Sendable {
    private let service: any TimerService

    init(_ limit: CategoryLimit, on service: any TimerService) {
      self.service = service
      super.init(CategoryLimits([limit]), rank: 2)
    }

    override var clock: any TimerService { service }
  }

  private let clock = TestClock()

  /// One start in a second.
  private func limit(_ name: String) -> CategoryLimit {
    CategoryLimit(CategoryID(named: name, in: nil).starts(in: .seconds(1)), atMost: 1)
  }

  private func request(_ limit: CategoryLimit, on clock: TestClock? = nil) -> ExclusionRequest {
    TimedRequest(limit, on: (clock ?? self.clock).clock.service)
  }

  @Test("a start that is turned down an interval later takes nothing from others")
  func declinedLate() {
    let limit = limit("x")
    let requests = (0..<3).map { _ in request(limit) }
    var table = ExclusionTable()
    let isFirst = table.ask(requests[0])
    clock.advance(by: .seconds(1))
    let isSecond = table.ask(requests[1])
    clock.advance(by: .milliseconds(500))
    let offers = table.decline(requests[0])
    let isThird = table.ask(requests[2])
    #expect(isFirst && isSecond && offers.isEmpty && !isThird)
  }

  @Test("a start on one clock that is turned down takes nothing from those on another")
  func declinedOnAnotherClock() {
    let (limit, other) = (limit("x"), TestClock())
    let requests = [request(limit), request(limit, on: other), request(limit, on: other)]
    var table = ExclusionTable()
    let (isFirst, isSecond) = (table.ask(requests[0]), table.ask(requests[1]))
    let offers = table.decline(requests[0])
    let isThird = table.ask(requests[2])
    #expect(isFirst && isSecond && offers.isEmpty && !isThird)
  }

  @Test("keys that are no longer used are forgotten")
  func keys() {
    var table = ExclusionTable()
    var most = 0
    for index in 0..<2_000 {
      let request = request(limit("\(index)"))
      let isGranted = table.ask(request)
      #expect(isGranted)
      _ = table.leave(request)
      clock.advance(by: .milliseconds(20))
      most = max(most, table.count)
    }
    // Fifty count at a time.
    #expect(most <= 128, "\(most)")
  }

  @Test("the timer calls the table's owner when a start is an interval old, and the next is let in")
  func timer() {
    let fired = Recorder<StartTimes>()
    var table = ExclusionTable { fired.note($0) }
    let requests = (0..<2).map { _ in request(limit("x")) }
    let granted = requests.map { table.ask($0) }
    clock.advance(by: .milliseconds(999))
    #expect(granted == [true, false] && fired.events.isEmpty)
    clock.advance(by: .milliseconds(1))
    let offers = fired.events.map { table.timePasses(for: $0).map { $0 === requests[1] } }
    #expect(offers == [[true]])
  }
}
