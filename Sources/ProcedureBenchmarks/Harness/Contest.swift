/// One question, put to two contestants: how much one of them costs beside the other.
struct Contest: Sendable {
  /// The kind of a cost, which says how the two costs of a round are compared.
  enum Unit: String, Encodable {
    /// For time only the ratio of the two holds on another machine.
    case nanoseconds = "ns"
    /// These are the same everywhere: it is the first cost, and the second is there to compare.
    case bytes
  }

  let name: String
  var unit = Unit.nanoseconds
  /// The ceiling of the answer; nil if nothing is promised.
  var ceiling: Double?
  /// The aim.
  var aim: Double?
  /// Fewer rounds, for a contest whose rounds are long.
  var mostRounds = Int.max
  let ours: Side
  let theirs: Side
}

extension Contest {
  /// Runs both sides once to warm up and to see that they do their work, and then round by round,
  /// until the rounds decide or there have been three times as many.
  ///
  /// - Parameter divisor: by how much to divide the number of items, for a quick look.
  func run(rounds: Int, divisor: Int = 1) async -> Finding {
    await ours.prove(divisor, in: self)
    await theirs.prove(divisor, in: self)
    let rounds = min(rounds, mostRounds)
    var finding = Finding(contest: self)
    repeat {
      for _ in 0..<rounds {
        // None of them always comes after the other.
        if finding.ours.count % 2 == 0 {
          finding.ours.append(await ours.cost(divisor))
          finding.theirs.append(await theirs.cost(divisor))
        } else {
          finding.theirs.append(await theirs.cost(divisor))
          finding.ours.append(await ours.cost(divisor))
        }
      }
    } while finding.verdict == .tooNoisy && finding.ours.count < 3 * rounds
    return finding
  }
}
