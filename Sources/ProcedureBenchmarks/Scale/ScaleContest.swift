/// Work that several threads do at the same time, beside others that do as much.
struct ScaleContest: Sendable {
  let name: String
  /// What one item is.
  let item: String
  let ours: ScaleSide
  let peers: [ScaleSide]

  var sides: [ScaleSide] { [ours] + peers }
}

/// One contestant's way of doing the work.
struct ScaleSide: Sendable {
  let name: String
  /// The items of one measurement: those of all threads together.
  let items: Int
  /// Whether each item notes itself in the tally. A cancelled one may not run.
  var isTallied = true
  /// Whether it uses locks of this package, whose waits can be counted.
  var usesOurLocks = false
  /// Makes what the threads share, which is not measured.
  let prepare: @Sendable (_ threads: Int) -> ScaleWork
}

/// The work of one measurement.
struct ScaleWork: Sendable {
  /// One thread's part: `count` items.
  let add: @Sendable (_ thread: Int, _ count: Int) -> Void
  /// Blocks until all items are done.
  let finish: @Sendable () -> Void
}

/// What one measurement found.
struct ScaleSample: Sendable {
  /// Items a second, of all threads together.
  let throughput: Double
  /// Nanoseconds of processor time an item.
  let processorTime: Double
  /// Switches of threads an item.
  let switches: Double
  /// Acquisitions of a lock that had to wait, an item; nil if they are not counted.
  let waits: Double?
  /// Compare-exchanges that failed, an item; nil if they are not counted.
  let failures: Double?
}

extension ScaleSide {
  private func itemsOfThread(_ threads: Int, _ divisor: Int) -> Int {
    max(1, items / divisor / threads)
  }

  /// Has `threads` threads do the work, and returns what it cost.
  func sample(threads: Int, divisor: Int) -> ScaleSample {
    let each = itemsOfThread(threads, divisor)
    let work = prepare(threads)
    let contention = ContentionCount.now
    let (time, use) = Crew.measure(threads, finish: work.finish) { work.add($0, each) }
    let count = Double(each * threads)
    let counted = usesOurLocks ? ContentionCount.since(contention) : nil
    return ScaleSample(
      throughput: count / max(time, 1e-9), processorTime: use.processorTime / count,
      switches: use.switches / count, waits: counted.map { Double($0.waits) / count },
      failures: counted.map { Double($0.failures) / count })
  }

  /// Does the work once, unmeasured. Stops the program if too little or too much was done.
  func prove(threads: Int, divisor: Int, in contest: ScaleContest) {
    Tally.begin()
    _ = sample(threads: threads, divisor: divisor)
    let found = Tally.end()
    let count = itemsOfThread(threads, divisor) * threads
    expect(
      !isTallied || found == count,
      "\(contest.name), \(name): \(found) items of \(count) were done by \(threads) threads")
  }
}

extension ScaleContest {
  /// Measures all sides with each number of threads. In each round the sides run one right after
  /// the other, and another one runs first.
  ///
  /// - Returns: a row for each side and number of threads.
  func run(threads: [Int], rounds: Int, divisor: Int = 1) -> [ScaleRow] {
    for side in sides { side.prove(threads: threads.max() ?? 1, divisor: divisor, in: self) }
    // By side, number of threads, and round.
    var samples = sides.map { _ in threads.map { _ in [ScaleSample]() } }
    for round in 0..<rounds {
      for (column, number) in threads.enumerated() {
        for index in sides.indices {
          let side = (index + round) % sides.count
          samples[side][column].append(sides[side].sample(threads: number, divisor: divisor))
        }
      }
    }
    return threads.indices.flatMap { column in
      sides.indices.map { side in
        ScaleRow(
          contest: name, side: sides[side].name, threads: threads[column],
          samples: samples[side][column], alone: samples[side][0],
          ours: side == 0 ? nil : samples[0][column])
      }
    }
  }
}
