import Foundation
import ProcedureTestSupport
import Testing

/// Of the sources: the explorer of `Tests/ModelTests` proves only the orders that it is told.
@Suite(.hangLimit) struct OrderedAtomicTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOf: .packageRoot.appending(path: "Sources/\(path)"), encoding: .utf8)
  }

  /// Of each function the order that its name says, the one it has, and the one it tells; and the
  /// last two again, of a compare-exchange that fails.
  private static func orders(in source: String) -> [[Substring]] {
    source.split(separator: "borrowing func ", omittingEmptySubsequences: false).dropFirst().flatMap
    { function -> [[Substring]] in
      let orders = function.matches(
        of: /\.(relaxed|acquiringAndReleasing|acquiring|releasing|sequentiallyConsistent)\b/
      ).map(\.1)
      let name = function.prefix { $0 != "(" }
      let end = name.firstMatch(
        of: /(Relaxed|AcquiringAndReleasing|Acquiring|Releasing|SequentiallyConsistent)$/)
      let named = end.map { $0.1.prefix(1).lowercased() + $0.1.dropFirst() } ?? "\(name)"
      if orders.count == 4 {
        return [[named[...], orders[0], orders[2]], [orders[1], orders[3]]]
      }
      return [[named[...]] + orders]
    }
  }

  @Test("each access tells the explorer the order that it has, and its name says it")
  func orders() throws {
    let source = try Self.text("ProcedurePrimitives/OrderedAtomic.swift")
    let orders = Self.orders(in: source)
    #expect(orders.count > 12)
    for words in orders { #expect(Set(words).count == 1, "\(words)") }
  }

  @Test("an access that tells another order is found")
  func finds() {
    let source = """
      borrowing func storeReleasing(_ new: Value) {
        told.store(new, over: loadRelaxed(), .releasing)
        value.store(new, ordering: .relaxed)
      }
      """
    #expect(Self.orders(in: source) == [["releasing", "releasing", "relaxed"]])
    let named = source.replacing(".relaxed", with: ".releasing").replacing(
      "storeR", with: "storeAcquiringAndR")
    #expect(Self.orders(in: named) == [["acquiringAndReleasing", "releasing", "releasing"]])
  }

  @Test("in the core, only counters and what the explorer cannot run name an order elsewhere")
  func others() throws {
    let folder = URL.packageRoot.appending(path: "Sources")
    var named: [String] = []
    for module in ["ProcedurePrimitives", "Cancellation", "Procedures"] {
      let paths = FileManager.default.enumerator(atPath: folder.appending(path: module).path)
      for case let path as String in paths?.allObjects ?? [] where path.hasSuffix(".swift") {
        let text = try Self.text("\(module)/\(path)")
        if text.contains(/[oO]rdering: \./) {
          named.append(String(path.split(separator: "/").last ?? ""))
        }
      }
    }
    #expect(
      named.sorted() == [
        // Counts that only a build has that counts contention, or delays, or is the explorer's.
        "Contention.swift",
        // The holder of a lock, which only builds for tests keep, and only the holder compares.
        "LockHolder.swift",
        "Member.swift",
        "OrderedAtomic.swift",
        // Fences for the optimiser; loans between threads that sleep.
        "OwnedByte.swift", "OwnedLock.swift", "PriorityLoans.swift",
        // Numbers.
        "RecordStore.swift",
        "SchedulingPoint.swift",
      ])
  }
}
