/// The samples of a contest, and what follows from them.
///
/// Two entries are compared round by round: what slowed a round slowed both of them.
struct ContestResult {
  let contest: Contest
  let measured: Samples

  /// All rows, in the order of the entries, figure by figure.
  var rows: [Row] {
    contest.figures.indices.flatMap { figure in
      contest.entries.indices.map { entry in row(entry, figure) }
    }
  }

  /// The samples of one row; nil if there is none of that name.
  func samples(of name: RowName) -> [Double]? {
    guard let figure = contest.figures.firstIndex(of: name.figure),
      let entry = contest.entries.firstIndex(where: {
        $0.name == name.entry && $0.size == name.size
      })
    else { return nil }
    return measured.values[entry][figure]
  }

  /// In each round, the best of a contestant's entries of that figure and size.
  func best(of contestant: Contestant, for name: RowName) -> [Double]? {
    guard let figure = contest.figures.firstIndex(of: name.figure) else { return nil }
    return contest.entries.indices
      .filter {
        contest.entries[$0].contestant == contestant && contest.entries[$0].size == name.size
      }
      .map { measured.values[$0][figure] }
      .min { Summary($0).median < Summary($1).median }
  }

  private func row(_ entry: Int, _ figure: Int) -> Row {
    let reference = reference(for: entry, figure)
    let pairs = zip(measured.values[entry][figure], measured.values[reference][figure])
    let one = contest.entries[entry]
    return Row(
      name: RowName(contest.name, one.name, size: one.size, figure: contest.figures[figure]),
      contestant: one.contestant, unit: contest.unit, items: measured.items[entry],
      share: one.share,
      summary: Summary(measured.values[entry][figure]),
      ratio: Summary(pairs.map { $0 / $1 }).median,
      isReference: entry == reference)
  }

  /// The best of the others: of the contestants with that many items, or else the first entry.
  private func reference(for entry: Int, _ figure: Int) -> Int {
    contest.entries.indices
      .filter {
        contest.entries[$0].contestant != .procedures
          && contest.entries[$0].size == contest.entries[entry].size
      }
      .min {
        Summary(measured.values[$0][figure]).median < Summary(measured.values[$1][figure]).median
      } ?? 0
  }
}
