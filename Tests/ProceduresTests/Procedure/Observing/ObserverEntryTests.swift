import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct ObserverEntryTests {
  private let released = Counter()
  private let procedure = Procedure()

  /// An entry whose closure keeps something that says when it was released.
  private func entry(
    for event: ProcedureEvents = .didExecute, _ body: @escaping @Sendable () -> Void = {}
  ) -> ObserverEntry {
    let tracker = Tracker { [released] in released.increment() }
    let block: @Sendable () -> Void = { withExtendedLifetime(tracker) { body() } }
    return BlockObserverEntry<Procedure>(
      event == .didFinish ? .didFinish { _, _ in block() } : .didExecute { _ in block() },
      at: .worker)
  }

  @Test("O1: an idle observer is called, and removed once, which releases the closure")
  func idle() {
    let told = Counter()
    let entry = entry { told.increment() }
    entry.deliver(.didExecute, of: procedure, adding: nil)
    #expect(told.value == 1 && !entry.isRemoved && released.value == 0)
    #expect(entry.remove() && entry.isRemoved && released.value == 1)
    #expect(!entry.remove())
    entry.deliver(.didExecute, of: procedure, adding: nil)
    #expect(told.value == 1)
  }

  @Test(
    "O1: the closure of an observer that is removed while it is called stays until it has returned")
  func removedWhileTold() {
    let slot = Recorder<ObserverEntry>()
    let entry = entry { [released] in
      #expect(slot.events[0].remove() && !slot.events[0].remove())
      #expect(slot.events[0].isRemoved && released.value == 0)
    }
    slot.note(entry)
    entry.deliver(.didExecute, of: procedure, adding: nil)
    #expect(released.value == 1)
    #expect(!entry.remove())
  }

  @Test(
    "O1: the finish releases all observers, also one that does not want it and one that is removed")
  func lastEvent() {
    let slot = Recorder<ObserverEntry>()
    var entries = SmallList<ObserverEntry>()
    entries.append(entry(for: .didFinish))
    entries.append(entry(for: .didFinish) { #expect(slot.events[0].remove()) })
    entries.append(BlockObserverEntry<Procedure>(.didExecute { _ in }, at: .worker))
    slot.note(entries[1])
    let delivery = ObserverDelivery(.didFinish, delivering: .didFinish, to: entries)
    let isDone = delivery.run(for: procedure)
    let areRemoved = entries.allSatisfy { $0.isRemoved && !$0.remove() }
    #expect(isDone && areRemoved && released.value == 2)
  }

  @Test(
    "O1: an observer that another thread removes during its call is released once, and not called again"
  )
  func removedBesides() async {
    for round in 1...Rounds.few {
      let told = Counter()
      let entry = entry { told.increment() }
      await race(
        { [procedure] in
          for _ in 0..<3 { entry.deliver(.didExecute, of: procedure, adding: nil) }
        },
        { #expect(entry.remove()) })
      let toldBefore = told.value
      entry.deliver(.didExecute, of: procedure, adding: nil)
      #expect(told.value == toldBefore && released.value == round)
    }
  }
}
