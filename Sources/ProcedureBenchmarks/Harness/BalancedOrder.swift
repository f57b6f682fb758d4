/// In which order a round goes through the entries.
///
/// A Latin square after Williams: within as many rounds as there are entries, twice as many if that
/// number is odd, each entry is at each place, and comes after each other one, equally often.
enum BalancedOrder {
  static func order(of count: Int, round: Int) -> [Int] {
    // 0, 1, n - 1, 2, n - 2, …: all differences of neighbours differ.
    let first = (0..<count).map { $0 % 2 == 1 ? ($0 + 1) / 2 : (count - $0 / 2) % count }
    let row = first.map { ($0 + round) % count }
    return count % 2 == 1 && round / count % 2 == 1 ? row.reversed() : row
  }
}
