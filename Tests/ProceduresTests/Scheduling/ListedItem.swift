@testable import Procedures

/// What the tests of lists schedule: something with a name that asks for something without one.
final class ListedItem: Schedulable, @unchecked Sendable {
  final class Request: SchedulingRequest, @unchecked Sendable {
    let item: ListedItem
    var ticket: UInt64 = 0
    var listPlace = 0

    init(of item: ListedItem) {
      self.item = item
    }
  }

  let name: String
  var membership = Membership()
  var links = MemberLinks()
  var age: UInt32 = 0

  init(_ name: String = "") {
    self.name = name
  }
}
