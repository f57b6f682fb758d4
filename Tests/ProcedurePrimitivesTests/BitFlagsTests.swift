import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct BitFlagsTests {
  private struct Flags: BitFlags {
    let rawValue: UInt8
  }

  private struct Plain: OptionSet {
    let rawValue: UInt8
  }

  /// What each operation returns, and the flags after it, as text.
  private static func results<S: OptionSet>(
    _ first: S, _ second: S, insert: (inout S, S) -> (inserted: Bool, memberAfterInsert: S),
    remove: (inout S, S) -> S?, formUnion: (inout S, S) -> Void, ask: (S, S) -> [Bool]
  ) -> String where S.RawValue == UInt8 {
    var (inserted, removed, union) = (first, first, first)
    let insertion = insert(&inserted, second).inserted
    let removal = remove(&removed, second)?.rawValue
    formUnion(&union, second)
    return
      "\(insertion) \(inserted.rawValue) \(removal ?? 0) \(removed.rawValue) \(union.rawValue) "
      + "\(ask(first, second))"
  }

  @Test("flags do what an OptionSet of the standard library does")
  func asOptionSet() {
    var wrong: [String] = []
    for first in 0..<16 as Range<UInt8> {
      for second in 0..<16 as Range<UInt8> {
        let flags = Self.results(
          Flags(rawValue: first), Flags(rawValue: second), insert: { $0.insert($1) },
          remove: { $0.remove($1) }, formUnion: { $0.formUnion($1) },
          ask: { [$0.contains($1), $0.isDisjoint(with: $1), $0.isEmpty] })
        let plain = Self.results(
          Plain(rawValue: first), Plain(rawValue: second), insert: { $0.insert($1) },
          remove: { $0.remove($1) }, formUnion: { $0.formUnion($1) },
          ask: { [$0.contains($1), $0.isDisjoint(with: $1), $0.isEmpty] })
        if flags != plain { wrong.append("\(first), \(second): \(flags), not \(plain)") }
      }
    }
    #expect(wrong == [])
    let both: Flags = [Flags(rawValue: 1), Flags(rawValue: 4)]
    #expect(both.rawValue == 5 && Flags().isEmpty)
  }
}
