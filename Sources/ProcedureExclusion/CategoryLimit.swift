internal import ProcedurePrimitives

/// A category, its number of places, and how many of them a request takes.
package struct CategoryLimit: Hashable, Sendable {
  package let category: CategoryID
  /// At least 1.
  package let count: Int
  /// From 1 to `count`.
  package let places: Int

  package init(_ category: CategoryID, atMost count: Int, taking places: Int = 1) {
    self.category = category
    self.count = count
    self.places = places
  }

  /// Both limits at once: the lower count, and the larger share of it.
  func merged(with other: Self) -> Self {
    let count = min(count, other.count)
    return Self(category, atMost: count, taking: min(count, max(places, other.places)))
  }

  /// The name in a report: `'disk'`, or `rate 'disk' (3 in 1 s)`.
  package var nameForPeople: String {
    let name = "'\(category.text)'"
    return category.interval.map { "rate \(name) (\(count) in \($0.short))" } ?? name
  }
}

/// The limits of one request, each category once. A single limit needs no allocation.
package struct CategoryLimits: Sendable {
  private enum Storage: Sendable {
    case none
    case one(CategoryLimit)
    /// With the index of each category in the array, if there are many.
    case many([CategoryLimit], [CategoryID: Int]?)
  }

  private var storage = Storage.none

  package init() {}

  package init(_ limits: some Sequence<CategoryLimit>) {
    for limit in limits { add(limit) }
  }

  /// If a category is there already, the lower of both counts is kept. Amortised O(1).
  package mutating func add(_ limit: CategoryLimit) {
    switch storage {
    case .none:
      storage = .one(limit)
    case .one(let known) where known.category == limit.category:
      storage = .one(known.merged(with: limit))
    case .one(let known):
      storage = .many([known, limit], nil)
    case .many(var all, var indices):
      // A second reference to the array would make each added limit a copy of all.
      storage = .none
      if let known = Self.index(of: limit.category, in: all, indices) {
        all[known] = all[known].merged(with: limit)
      } else {
        all.append(limit)
        if indices != nil {
          indices?[limit.category] = all.count - 1
        } else if all.count > 8 {
          indices = Dictionary(uniqueKeysWithValues: zip(all.map(\.category), 0...))
        }
      }
      storage = .many(all, indices)
    }
  }

  package mutating func add(_ others: CategoryLimits) {
    if case .none = storage { return storage = others.storage }
    for limit in others { add(limit) }
  }

  /// The count and the places of a limit, without its category.
  func numbers(at index: Int) -> (count: Int, places: Int) {
    switch storage {
    case .one(let limit): (limit.count, limit.places)
    case .many(let all, _): (all[index].count, all[index].places)
    case .none: (1, 1)
    }
  }

  /// The index of the limit of `category`.
  func index(of category: CategoryID) -> Int? {
    switch storage {
    case .none: nil
    case .one(let limit): limit.category == category ? 0 : nil
    case .many(let all, let indices): Self.index(of: category, in: all, indices)
    }
  }

  private static func index(
    of category: CategoryID, in all: [CategoryLimit], _ indices: [CategoryID: Int]?
  ) -> Int? {
    indices.map { $0[category] } ?? all.firstIndex { $0.category == category }
  }
}

extension CategoryLimits: RandomAccessCollection {
  package var startIndex: Int { 0 }

  package var endIndex: Int {
    switch storage {
    case .none: 0
    case .one: 1
    case .many(let all, _): all.count
    }
  }

  package subscript(index: Int) -> CategoryLimit {
    switch storage {
    case .none:
      stopBecauseOfInconsistency("Internal inconsistency: limit \(index) of a request without any")
    case .one(let limit):
      requireConsistency(index == 0, "Internal inconsistency: limit \(index) of only one")
      return limit
    case .many(let all, _):
      return all[index]
    }
  }
}

extension CategoryLimits: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    if case .one(let left) = left.storage, case .one(let right) = right.storage {
      return left == right
    }
    return left.elementsEqual(right)
  }

  package func hash(into hasher: inout Hasher) {
    for limit in self { hasher.combine(limit) }
  }
}
