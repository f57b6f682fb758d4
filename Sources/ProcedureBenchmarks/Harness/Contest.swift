/// Compares the costs of two contestants.
struct Contest: Sendable {
  /// The unit of a cost. It decides how the two costs of a round are compared.
  enum Unit: String, Encodable {
    /// The answer is the ratio of the two times, since only ratios hold on another machine.
    case nanoseconds = "ns"
    /// The answer is the first cost, since bytes are the same everywhere; the second is shown for
    /// comparison.
    case bytes
  }

  let name: String
  var unit = Unit.nanoseconds
  /// The highest answer that is promised; nil if nothing is promised.
  var ceiling: Double?
  var aim: Double?
  /// A limit on the rounds, for a contest whose rounds are long.
  var mostRounds = Int.max
  let ours: Side
  let theirs: Side
}

extension Contest {
  /// Runs both sides once, to warm up and to check that they do their work. Then it runs rounds
  /// until they decide, or until there have been three times `rounds`.
  ///
  /// - Parameter divisor: divides the number of items, for a quick look.
  func run(rounds: Int, divisor: Int = 1) async -> Finding {
    await ours.prove(divisor, in: self)
    await theirs.prove(divisor, in: self)
    let rounds = min(rounds, mostRounds)
    var finding = Finding(contest: self)
    repeat {
      for _ in 0..<rounds {
        // The order alternates, so that neither side always runs first.
        let isFirst = finding.ours.count % 2 == 0
        let before = isFirst ? nil : await theirs.cost(divisor)
        let our = await ours.cost(divisor)
        let their = if let before { before } else { await theirs.cost(divisor) }
        finding.ours.append(our.cost)
        finding.theirs.append(their.cost)
        if unit == .nanoseconds {
          // Their time may read zero if there is little to do.
          finding.processorTimes.append(our.processorTime / max(their.processorTime, 0.001))
        }
      }
    } while finding.verdict == .tooNoisy && finding.ours.count < 3 * rounds
    return finding
  }
}
