/// Finds the known word that is nearest to an unknown one.
enum Spelling {
  /// Returns the nearest word, if it is close enough: few letters differ, are missing, extra or
  /// swapped.
  static func nearest(to word: String, in words: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased())
    // Half of a short word would already be another word.
    let most = letters.count < 3 ? 0 : letters.count < 6 ? 1 : 2
    var best: (word: String, distance: Int)?
    for other in words where other != word {
      let others = Array(other.lowercased())
      guard abs(others.count - letters.count) <= most else { continue }
      let distance = distance(letters, others)
      if distance <= best?.distance ?? most {
        // Equal distances are decided by the alphabet, since the words come in any order.
        if let best, distance == best.distance, best.word < other { continue }
        best = (other, distance)
      }
    }
    return best?.word
  }

  static func nearest(to name: Name, in names: some Sequence<Name>) -> String? {
    nearest(to: name.text, in: names.lazy.map(\.text))
  }

  /// The end of a sentence about an unknown word.
  static func hint(_ nearest: String?) -> String? {
    nearest.map { "did you mean '\($0.shortened)'?" }
  }

  private static func distance(_ first: [Character], _ second: [Character]) -> Int {
    var (before, last) = ([Int](), Array(0...second.count))
    for (row, letter) in first.enumerated() {
      var line = [row + 1]
      for (column, other) in second.enumerated() {
        var least = min(last[column + 1], line[column]) + 1
        least = min(least, last[column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
          least = min(least, before[column - 1] + 1)
        }
        line.append(least)
      }
      (before, last) = (last, line)
    }
    return last[second.count]
  }
}
