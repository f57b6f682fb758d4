/// Items in the order in which they arrived, linked through themselves.
struct ArrivalLine<Item: Schedulable>: Sendable {
  private var first: Member<Item>?
  private(set) var count = 0
  /// How many of those that are left could start.
  private(set) var readyCount = 0

  var isEmpty: Bool { first == nil }

  @inline(__always)
  mutating func prepend(_ member: Member<Item>) {
    member.next = first
    first = member
    count += 1
    if member.membership.isReady { readyCount += 1 }
  }

  @inline(__always)
  mutating func popFirst() -> Member<Item>? {
    guard let member = first else { return nil }
    first = member.next
    count -= 1
    if member.membership.isReady { readyCount -= 1 }
    return member
  }

  func forEach(_ body: (Member<Item>) -> Void) {
    var next = first
    while let member = next {
      body(member)
      next = member.next
    }
  }
}
