#if MODEL
  import ProcedurePrimitives
  import ProcedureTestSupport
  import Testing

  /// The explorer loses no outcome with the schedules that it leaves out.
  @Suite(.serialized, .hangLimit) struct ReductionTests {
    /// The outcomes of one program, and what it took to find them.
    private struct Findings {
      var outcomes: Set<String> = []
      var schedules = 0
      /// Nil unless a schedule failed, which ends the exploration.
      var failure: String?
    }

    private func find(_ program: Program, by explorer: Explorer) -> Findings {
      let found = PlainLog<String>()
      var findings = Findings()
      do {
        findings.schedules = try explorer.explore {
          let memory = SharedMemory()
          return program.scenario(in: memory) { found.events.append(memory.outcome) }
        }.schedules
        findings.outcomes = Set(found.events)
      } catch let failure as Explorer.Failure {
        findings.failure = "\(type(of: failure.error))"
      } catch {
        findings.failure = "\(error)"
      }
      return findings
    }

    /// Both must find the same.
    @discardableResult
    private func compare(
      seed: Int, length: Int, preemptions: Int, staleReads: Int
    ) -> (full: Findings, reduced: Findings) {
      let program = Program(seed: UInt64(seed), length: length)
      var explorer = Explorer(preemptions: preemptions, staleReads: staleReads, reduces: false)
      let full = find(program, by: explorer)
      explorer.reduces = true
      let reduced = find(program, by: explorer)
      let text = Comment(rawValue: "seed \(seed), length \(length): \(program)")
      #expect(full.failure == reduced.failure, text)
      #expect(full.outcomes.subtracting(reduced.outcomes).isEmpty, text)
      #expect(reduced.outcomes.subtracting(full.outcomes).isEmpty, text)
      #expect(reduced.schedules <= full.schedules, text)
      return (full, reduced)
    }

    @Test(
      "random programs have the same outcomes with and without the reduction",
      arguments: 1...3, 0...2)
    func outcomes(preemptions: Int, staleReads: Int) {
      var (full, reduced, failures) = (0, 0, 0)
      for round in 0..<Rounds.size(120, otherwise: 20) {
        let found = compare(
          seed: (preemptions * 3 + staleReads) * 1_000 + round, length: preemptions == 3 ? 3 : 5,
          preemptions: preemptions, staleReads: staleReads)
        full += found.full.schedules
        reduced += found.reduced.schedules
        failures += found.full.failure == nil ? 0 : 1
      }
      print(
        "reduction: \(preemptions) preemptions, \(staleReads) old values,",
        "\(full) schedules to \(reduced), \(failures) failures")
      #expect(reduced < full)
    }

    /// Three threads take one lock. The second waits for it from the moment on at which the first
    /// has it, and could have come before.
    @Test("a thread that waits for the preempted one is not taken for one that does nothing")
    func waiting() {
      compare(seed: 237, length: 5, preemptions: 2, staleReads: 0)
    }
  }

  /// What the threads of a random program share, and what each has seen.
  private final class SharedMemory: @unchecked Sendable {
    let bytes = [AtomicBox(), AtomicBox(), AtomicBox()]
    let word = AtomicWord(0)
    let lockByte = LockByte(0)
    let locks = [LockBox(), LockBox()]
    let contended = Contended(0)
    let data = UseCount(of: "the data of a random program")
    let log = PlainLog<Int>()
    let plain = PlainCounter()
    let scheduler = ModelScheduler()
    /// By thread, and by closure submitted; each is one thread's.
    var seen: [Int: [Int]] = [:]

    final class AtomicBox: Sendable { let byte = AtomicByte(0) }
    final class LockBox: Sendable { let lock = Locked(0) }

    var outcome: String {
      """
      \(seen.sorted { $0.key < $1.key }.map(\.value)) \(bytes.map { $0.byte.load() }) \(word.load()) \
      \(lockByte.load()) \(locks.map { $0.lock.withLock { $0 } }) \(contended.withLock { $0 }) \
      \(log.events) \(plain.value)
      """
    }
  }

  private indirect enum Step {
    case load(Int)
    case store(Int, UInt8)
    case exchange(Int, UInt8)
    case compareExchange(Int, UInt8, UInt8)
    case loadWord
    case insert(UInt)
    case replace(UInt, UInt)
    case orderWord
    case loadLockByte
    case lockByte(UInt8, [Step])
    case lock(Int, Int, [Step])
    case contended(Int, [Step])
    case note(Int)
    case readLog
    case count
    case make
    case useIf(Int)
    case submit(Int, [Step])
  }

  /// Threads of random steps, of unequal lengths.
  private struct Program: CustomStringConvertible {
    private(set) var threads: [[Step]] = []
    private var generator: Generator
    private var number = 0
    private let mayUse: Bool

    init(seed: UInt64, length: Int) {
      generator = Generator(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678)
      mayUse = seed % 4 == 0
      let count = 2 + draw(2)
      for _ in 0..<count {
        var steps: [Step] = []
        for _ in 0..<(1 + draw(length)) { steps.append(step(depth: 0, lock: 0)) }
        threads.append(steps)
      }
    }

    var description: String { "\(threads)" }

    private mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// A value that no other step writes.
    private mutating func value() -> Int {
      number += 1
      return number
    }

    /// - Parameter lock: of the locks, those before it may be held: no two threads wait for each
    ///   other.
    private mutating func step(depth: Int, lock: Int) -> Step {
      let byte = draw(3)
      switch draw(depth > 1 ? 12 : 19) {
      case 0, 1: return .load(byte)
      case 2: return .store(byte, UInt8(value()))
      case 3: return .exchange(byte, UInt8(value()))
      case 4: return .compareExchange(byte, UInt8(draw(4)), UInt8(value()))
      case 5: return .loadWord
      case 6: return draw(3) == 0 ? .orderWord : .insert(1 << UInt(draw(6)))
      case 7: return .replace(UInt(draw(4)), UInt(value()))
      case 8: return .loadLockByte
      case 9: return draw(2) == 0 ? .note(value()) : .readLog
      case 10: return draw(2) == 0 ? .count : .make
      case 11: return mayUse ? .useIf(byte) : .load(byte)
      case 12 where lock < 1: return .lock(0, value(), inside(depth, 1))
      case 13 where lock < 2: return .lock(1, value(), inside(depth, 2))
      case 14 where lock < 3: return .contended(value(), inside(depth, 3))
      case 15, 16:
        return lock < 4 ? .lockByte(UInt8(value()), inside(depth, 4)) : .loadLockByte
      case 17: return .submit(value(), inside(depth, 0))
      default: return .store(byte, UInt8(value()))
      }
    }

    private mutating func inside(_ depth: Int, _ lock: Int) -> [Step] {
      var steps: [Step] = []
      for _ in 0..<draw(3) { steps.append(step(depth: depth + 1, lock: lock)) }
      return steps
    }

    func scenario(in memory: SharedMemory, check: @escaping () -> Void) -> Explorer.Scenario {
      var bodies: [@Sendable () -> Void] = []
      for (number, steps) in threads.enumerated() {
        memory.seen[-1 - number] = []
        bodies.append { for step in steps { step.run(in: memory, as: -1 - number) } }
      }
      return .init(threads: bodies, workers: [memory.scheduler], check: check)
    }
  }

  extension Step {
    func run(in memory: SharedMemory, as thread: Int) {
      func see(_ value: Int) { memory.seen[thread, default: []].append(value) }
      func run(_ steps: [Step]) { for step in steps { step.run(in: memory, as: thread) } }
      switch self {
      case .load(let byte): see(Int(memory.bytes[byte].byte.load()))
      case .store(let byte, let value): memory.bytes[byte].byte.store(value)
      case .exchange(let byte, let value): see(Int(memory.bytes[byte].byte.exchange(value)))
      case .compareExchange(let byte, let expected, let value):
        see(memory.bytes[byte].byte.compareExchange(expected, value) ? 1 : 0)
      case .loadWord: see(Int(memory.word.load()))
      case .insert(let bits): memory.word.insert(bits)
      case .replace(let expected, let value):
        see(Int(memory.word.replace(expected, with: value).found))
      case .orderWord: memory.word.order()
      case .loadLockByte: see(Int(memory.lockByte.load() & 127))
      case .lockByte(let value, let steps):
        see(Int(memory.lockByte.acquire()))
        run(steps)
        memory.lockByte.release(publishing: value)
      case .lock(let number, let new, let steps):
        memory.locks[number].lock.withLock { value in
          see(value)
          run(steps)
          value = new
        }
      case .contended(let new, let steps):
        memory.contended.withLock { value in
          see(value)
          run(steps)
          value = new
        }
      case .note(let value): memory.log.events.append(value)
      case .readLog: see(memory.log.events.count)
      case .count: memory.plain.value += 1
      case .make:
        let own = AtomicByte(0)
        own.store(1)
        see(Int(own.load()))
      case .useIf(let byte):
        if memory.bytes[byte].byte.load() > 0 { memory.data.note() }
      case .submit(let number, let steps):
        memory.scheduler.submit(quality: nil) {
          for step in steps { step.run(in: memory, as: number) }
        }
      }
    }
  }

  /// SplitMix64.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      return mixed ^ mixed >> 31
    }
  }
#endif
