import Dispatch
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct WorkLineTests {
  @Test(
    "Q11: work for a queue that begins nothing runs on a spare thread, and later on the queue again"
  )
  func spare() async {
    let pool = DispatchQueue(label: "pool", attributes: .concurrent)
    pool.suspend()
    let line = WorkLine(pool: pool, quality: .default)
    let places = Recorder<Bool>()
    let (first, second, third) = (Gate(), Gate(), Gate())
    line.submit {
      places.note(SpareThreads.isCurrent)
      first.open()
    }
    await first.wait()
    #expect(line.isStalled)
    // At once, by the same thread or another one.
    line.submit {
      places.note(SpareThreads.isCurrent)
      second.open()
    }
    await second.wait()
    pool.resume()
    // Behind the two blocks whose work has been done.
    await withCheckedContinuation { continuation in
      pool.async(flags: .barrier) { continuation.resume() }
    }
    #expect(!line.isStalled)
    line.submit {
      places.note(SpareThreads.isCurrent)
      third.open()
    }
    await third.wait()
    #expect(places.events == [true, true, false])
  }

  @Test("Q11: spare threads that are blocked themselves get help, and each work is done once")
  func blocked() async {
    let pool = DispatchQueue(label: "pool", attributes: .concurrent)
    pool.suspend()
    let line = WorkLine(pool: pool, quality: .default)
    let (last, begun) = (DispatchSemaphore(value: 0), Counter())
    let all = DispatchGroup()
    for number in 1...6 {
      all.enter()
      line.submit {
        // The last one frees the others.
        if begun.increment() == 6 { for _ in 1...5 { last.signal() } } else { last.wait() }
        _ = number
        all.leave()
      }
    }
    await withCheckedContinuation { continuation in
      all.notify(queue: .global()) { continuation.resume() }
    }
    pool.resume()
    #expect(begun.value == 6)
  }

  @Test("Q11: a line whose own threads are blocked gets help")
  func own() async {
    let line = WorkLine(threads: 1, quality: .default)
    let (gate, order) = (DispatchSemaphore(value: 0), Recorder<Int>())
    let (first, second) = (Gate(), Gate())
    line.submit {
      gate.wait()
      order.note(1)
      first.open()
    }
    line.submit {
      order.note(2)
      gate.signal()
      second.open()
    }
    await first.wait()
    await second.wait()
    #expect(order.events == [2, 1])
  }
}
