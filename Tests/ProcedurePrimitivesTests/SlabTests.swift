import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct SlabTests {
  @Test("elements keep the order of insertion, also after removals and reuse of places")
  func order() {
    var slab = Slab<Int>()
    var list = SlabList()
    let keys = (0..<5).map { slab.append($0, to: &list) }
    #expect(slab.remove(keys[1], from: &list) == 1)
    #expect(slab.remove(keys[1], from: &list) == nil)
    _ = slab.append(5, to: &list)
    #expect(slab.elements(of: list) == [0, 2, 3, 4, 5])
    #expect(slab.elementsByAge() == [0, 2, 3, 4, 5])
    #expect(slab.popFirst(from: &list) == 0)
    #expect(slab.count == 4)
  }

  @Test("a key that outlived its element finds nothing, although its place is used again")
  func staleKey() {
    var slab = Slab<Int>()
    var list = SlabList()
    let stale = slab.append(1, to: &list)
    #expect(slab.remove(stale, from: &list) == 1)
    let fresh = slab.append(2, to: &list)
    #expect(fresh.place == stale.place && fresh != stale)
    #expect(!slab.contains(stale) && slab.contains(fresh))
    #expect(slab.remove(stale, from: &list) == nil)
    #expect(slab.remove(fresh, from: &list) == 2 && list.isEmpty)
  }

  @Test("elements move between the lists of one slab and keep their keys")
  func lists() {
    var slab = Slab<String>()
    var (left, right) = (SlabList(), SlabList())
    let keys = ["a", "b", "c"].map { slab.append($0, to: &left) }
    slab.move(keys[1].place, from: &left, to: &right)
    slab.move(keys[0].place, from: &left, to: &right)
    #expect(slab.elements(of: left) == ["c"] && slab.elements(of: right) == ["b", "a"])
    #expect(slab[keys[1].place] == "b")
    slab[keys[1].place] = "B"
    #expect(slab.remove(keys[1], from: &right) == "B")
    #expect(slab.key(at: slab.firstPlace(of: right)) == keys[0])
    #expect(slab.place(after: keys[0].place) == Slab<String>.nowhere)
  }

  @Test("a slab gives memory back when it empties, wholly or but for old elements")
  func shrinking() {
    var slab = Slab<Int>()
    var list = SlabList()
    let first = slab.append(-1, to: &list)
    for round in 0..<6 {
      let keys = (0..<1_000).map { slab.append($0, to: &list) }
      let order = round % 3 == 0 ? keys : round % 3 == 1 ? keys.reversed() : keys.shuffled()
      for key in order { #expect(slab.remove(key, from: &list) != nil) }
      #expect(slab.contains(first) && slab.count == 1)
      // The next place is taken from what was kept.
      let next = slab.append(7, to: &list)
      #expect(next.place <= 600)
      #expect(slab.remove(next, from: &list) == 7)
    }
    #expect(slab.remove(first, from: &list) == -1)
    let key = slab.append(1, to: &list)
    #expect(key.place == 0)
  }

  @Test("random insertions, removals and moves agree with arrays")
  func againstArrays() {
    for seed in 0..<20 as Range<UInt64> {
      var random = SimulationGenerator(seed: seed)
      var slab = Slab<Int>()
      var lists = [SlabList(), SlabList()]
      var expected: [[(key: SlabKey, value: Int)]] = [[], []]
      for step in 0..<2_000 {
        let list = Int.random(in: 0...1, using: &random)
        // Grows in the first half and shrinks in the second.
        let grows = Int.random(in: 0..<10, using: &random) < (step < 1_000 ? 7 : 2)
        if grows {
          expected[list].append((slab.append(step, to: &lists[list]), step))
        } else if let index = expected[list].indices.randomElement(using: &random) {
          let (key, value) = expected[list].remove(at: index)
          if step % 4 == 0 {
            let other = 1 - list
            let (source, target) = (lists[list], lists[other])
            var (from, to) = (source, target)
            slab.move(key.place, from: &from, to: &to)
            (lists[list], lists[other]) = (from, to)
            expected[other].append((key, value))
          } else {
            #expect(slab.remove(key, from: &lists[list]) == value)
            #expect(!slab.contains(key))
          }
        }
        #expect(slab.count == expected[0].count + expected[1].count)
      }
      for list in 0...1 {
        #expect(slab.elements(of: lists[list]) == expected[list].map(\.value))
        #expect(expected[list].allSatisfy { slab.contains($0.key) })
      }
    }
  }
}
