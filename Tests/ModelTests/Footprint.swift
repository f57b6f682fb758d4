#if MODEL
  /// The places that a thread reads and writes between one scheduling point and its next one, by
  /// number.
  struct Footprint {
    /// Alternately the bits of the places read and of those written.
    private var words: [UInt64] = []
    /// It is independent of nothing.
    private(set) var conflictsWithAll = false
    private(set) var isEmpty = true

    mutating func insert(_ place: Int, isWrite: Bool) {
      let word = place / 64 * 2
      while words.count <= word { words += [0, 0] }
      words[word + (isWrite ? 1 : 0)] |= 1 << UInt64(place % 64)
      isEmpty = false
    }

    mutating func insertAll() {
      conflictsWithAll = true
      isEmpty = false
    }

    mutating func formUnion(_ other: Footprint) {
      if other.isEmpty { return }
      isEmpty = false
      conflictsWithAll = conflictsWithAll || other.conflictsWithAll
      while words.count < other.words.count { words.append(0) }
      for index in other.words.indices { words[index] |= other.words[index] }
    }

    /// Keeps its storage.
    mutating func removeAll() {
      for index in words.indices { words[index] = 0 }
      conflictsWithAll = false
      isEmpty = true
    }

    /// Whether both access a place, and one of them writes it.
    func conflicts(with other: Footprint) -> Bool {
      if conflictsWithAll || other.conflictsWithAll { return true }
      for reads in stride(from: 0, to: min(words.count, other.words.count), by: 2) {
        let writes = reads + 1
        let accesses = other.words[reads] | other.words[writes]
        if words[writes] & accesses | words[reads] & other.words[writes] != 0 { return true }
      }
      return false
    }
  }
#endif
