#if MODEL
  import ProcedurePrimitives

  /// What a thread knows, or a message tells: of each atomic the newest store, and of all data the
  /// newest use. By the number of the store, or of the use; 0 is what was there before the
  /// schedule.
  struct View {
    private var stores: [Int32] = []

    subscript(_ atomic: Int) -> Int32 {
      get { atomic < stores.count ? stores[atomic] : 0 }
      set {
        if stores.count <= atomic {
          stores.append(contentsOf: repeatElement(0, count: atomic + 1 - stores.count))
        }
        stores[atomic] = newValue
      }
    }

    mutating func join(_ other: View) {
      for (atomic, store) in other.stores.enumerated() where store > self[atomic] {
        self[atomic] = store
      }
    }
  }

  /// The memory of one schedule: release and acquire as C11 has them, by views.
  ///
  /// - Each atomic has a list of stores, in the order in which they were made. Each comes with a
  ///   message: a view.
  /// - A load may return any store that its thread does not know to be old. To choose an older one
  ///   than the newest is a decision of the explorer's, from a budget, as a preemption is; with
  ///   none, memory is sequentially consistent. An acquire load takes the message over.
  /// - A release store's message is what its thread knows; a relaxed one's is the store alone.
  /// - A read-modify-write reads the newest, and hands the message of that on with its own (a
  ///   release sequence).
  /// - A lock of the system's, a gate and a scheduler hand on what their thread knows.
  /// - Data that one thread at a time may use has a use count. A use by a thread that does not know
  ///   of the use before is a race, and is found in every schedule in which both are.
  ///
  /// It leaves out stores that become known in another order than they were made in (2+2W),
  /// compare-exchanges that fail without a reason or read an old value, fences and sequential
  /// consistency (no protocol rests on one), and an older store of the value that the newest has.
  ///
  /// Unchecked because one thread runs at a time.
  final class WeakMemory: @unchecked Sendable {
    private struct Store {
      let value: UInt
      let message: View
    }

    private struct Uses {
      var count: Int32 = 0
      /// What the thread of the last one knew.
      var view = View()
    }

    /// How many other values than the newest a load may choose from.
    private static let oldValues = 2
    /// Unchecked because there is one exploration at a time.
    @safe private nonisolated(unsafe) static var lastNumber = 0

    private let number: Int
    private let path: DecisionPath
    private var staleReadsLeft: Int
    private var views: [View]
    /// By the number of an atomic; empty for data, which has its numbers among the atomics.
    private var stores: [[Store]] = []
    private var uses: [Uses] = []
    /// What was wrong first.
    private(set) var error: (any Error)?
    /// For people.
    private(set) var staleReads: [String] = []

    init(threads: Int, path: DecisionPath, staleReads: Int) {
      Self.lastNumber += 1
      number = Self.lastNumber
      self.path = path
      staleReadsLeft = staleReads
      views = Array(repeating: View(), count: threads)
    }

    /// The number of a place here.
    ///
    /// - Parameter value: the value that an atomic had before the schedule, if it is new.
    private func number(of place: ModelPlace, holding value: UInt = 0) -> Int {
      if place.known.schedule != number {
        place.known = (number, stores.count)
        stores.append([Store(value: value & ~place.ignored, message: View())])
        uses.append(Uses())
      }
      return place.known.number
    }

    // MARK: Atomics

    func load(
      _ place: ModelPlace, holding newest: UInt, _ order: MemoryOrder, by thread: Int
    ) -> UInt {
      let atomic = number(of: place, holding: newest)
      let all = stores[atomic]
      if all[all.count - 1].value != newest & ~place.ignored { note(Unseen()) }
      guard let chosen = choose(from: all, notBefore: Int(views[thread][atomic])) else {
        note(Explorer.Unrepeatable())
        return newest
      }
      views[thread][atomic] = max(views[thread][atomic], Int32(chosen))
      if order.acquires { views[thread].join(all[chosen].message) }
      if chosen == all.count - 1 { return newest }
      staleReads.append("thread \(thread) read \(all[chosen].value) and not \(newest)")
      return all[chosen].value
    }

    /// The first option is the newest. Nil if something else was to be decided here before.
    private func choose(from all: [Store], notBefore oldest: Int) -> Int? {
      let newest = all.count - 1
      guard staleReadsLeft > 0, oldest < newest else { return newest }
      var options = [newest]
      for store in (oldest..<newest).reversed() where options.count <= Self.oldValues {
        if !options.contains(where: { all[$0].value == all[store].value }) { options.append(store) }
      }
      guard options.count > 1 else { return newest }
      guard let choice = path.choose(among: options.count) else { return nil }
      if choice > 0 { staleReadsLeft -= 1 }
      return options[choice]
    }

    func store(
      _ new: UInt, in place: ModelPlace, over old: UInt, _ order: MemoryOrder, by thread: Int
    ) {
      append(new, to: place, over: old, after: View(), order, by: thread)
    }

    func change(
      _ place: ModelPlace, from old: UInt, to new: UInt?, _ order: MemoryOrder, by thread: Int
    ) {
      let atomic = number(of: place, holding: old)
      let last = stores[atomic][stores[atomic].count - 1]
      if last.value != old & ~place.ignored { note(Unseen()) }
      views[thread][atomic] = Int32(stores[atomic].count - 1)
      if order.acquires { views[thread].join(last.message) }
      if let new { append(new, to: place, over: old, after: last.message, order, by: thread) }
    }

    private func append(
      _ new: UInt, to place: ModelPlace, over old: UInt, after message: consuming View,
      _ order: MemoryOrder, by thread: Int
    ) {
      let atomic = number(of: place, holding: old)
      let store = Int32(stores[atomic].count)
      views[thread][atomic] = store
      if order.releases { message.join(views[thread]) }
      message[atomic] = store
      stores[atomic].append(Store(value: new & ~place.ignored, message: message))
    }

    // MARK: Data

    func use(_ place: ModelPlace, _ name: StaticString, by thread: Int) {
      let data = number(of: place)
      if views[thread][data] != uses[data].count {
        note(
          Violation(
            description:
              "a data race: thread \(thread) uses \(name), and does not know of the use before"))
      }
      uses[data].count += 1
      views[thread][data] = uses[data].count
      uses[data].view = views[thread]
    }

    /// The count of references orders it after all others.
    func useLast(_ place: ModelPlace, by thread: Int) {
      views[thread].join(uses[number(of: place)].view)
    }

    // MARK: What orders beside memory

    /// What `thread` knows.
    func view(of thread: Int) -> View { views[thread] }

    func learn(_ view: View, by thread: Int) { views[thread].join(view) }

    /// The thread has acquired a lock of the system's.
    func acquired(_ lock: ModelPlace, by thread: Int) {
      views[thread].join(uses[number(of: lock)].view)
    }

    func willRelease(_ lock: ModelPlace, by thread: Int) {
      uses[number(of: lock)].view = views[thread]
    }

    /// Something has changed an atomic that the explorer was not told of.
    private struct Unseen: Error {}

    private func note(_ new: any Error) { if error == nil { error = new } }
  }
#endif
