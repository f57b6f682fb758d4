import ProcedurePrimitives

// Each access of the primitives as a function of its own, under a name that the assembly shows. Above each stand the
// instructions that it needs, in their order, on each platform: regular expressions for `check.py`.
//
// For Apple's processors the standard library's `Mutex` for Linux stands in for Apple's, of which the source is not here: `casa`
// and `casl` are its lock and unlock. There those are calls, which order more.

@usableFromInline
final class Referent: Sendable {}

@usableFromInline
final class Probes: @unchecked Sendable {
  let byte = AtomicByte(0)
  let word = AtomicWord(0)
  let lockByte = LockByte(0)
  let lock = OwnedLock()
  let contended = Contended<Referent?>(nil)
  @safe @exclusivity(unchecked) var object: Referent?

  init() {}

  // apple: ldapu?rb; linux: ldarb; x86: movz?b
  @_silgen_name("probeByteLoad")
  @usableFromInline func byteLoad() -> UInt8 { byte.load() }

  // arm: stlu?rb; x86: movb
  @_silgen_name("probeByteStore")
  @usableFromInline func byteStore() { byte.store(1) }

  // apple: swpalb; linux: ldaxrb then stlxrb; x86: xchgb
  @_silgen_name("probeByteExchange")
  @usableFromInline func byteExchange() -> UInt8 { byte.exchange(1) }

  // Nobody wants the value that was there. It is acquired all the same.
  // apple: swpalb w[0-9]+, w[0-9]+; linux: ldaxrb then stlxrb; x86: xchgb
  @_silgen_name("probeByteExchangeUnused")
  @usableFromInline func byteExchangeUnused() { _ = byte.exchange(1) }

  // apple: casalb; linux: ldaxrb then stlxrb; x86: lock cmpxchgb
  @_silgen_name("probeByteCompareExchange")
  @usableFromInline func byteCompareExchange() -> Bool { byte.compareExchange(0, 1) }

  // apple: ldapu?r ; linux: ldar ; x86: movq
  @_silgen_name("probeWordLoad")
  @usableFromInline func wordLoad() -> UInt { word.load() }

  // apple: casal ; linux: ldaxr  then stlxr ; x86: lock cmpxchgq
  @_silgen_name("probeWordReplace")
  @usableFromInline func wordReplace() -> Bool { word.replace(1, with: 2).isDone }

  // apple: ldsetal x[0-9]+, x[0-9]+; linux: ldaxr  then stlxr ; x86: lock or
  @_silgen_name("probeWordInsert")
  @usableFromInline func wordInsert() { word.insert(6) }

  // It changes nothing, and must not be left out.
  // apple: (ldsetal|ldaddal) [wx]([0-9]+|zr), x[0-9]+; linux: ldaxr  then stlxr ; x86: lock
  @_silgen_name("probeWordOrder")
  @usableFromInline func wordOrder() { word.order() }

  // apple: ldclral x[0-9]+, x[0-9]+; linux: ldaxr  then stlxr ; x86: lock cmpxchgq
  @_silgen_name("probeWordKeep")
  @usableFromInline func wordKeep() -> UInt { word.keep(1) }

  // apple: ldapu?rb; linux: ldarb; x86: movz?b
  @_silgen_name("probeLockByteLoad")
  @usableFromInline func lockByteLoad() -> UInt8 { lockByte.load() }

  // apple: casa then stlu?rb then casl; linux: ldaxrb then stxrb then stlrb; x86: lock cmpxchgb then movb
  @_silgen_name("probeLockByte")
  @usableFromInline func lockByteAround() { lockByte.release(publishing: lockByte.acquire()) }

  // The count of lenders is read behind the store that releases.
  // apple: casa then casl; linux: ldaxr  then stxr  then stlr  then ldrb; x86: lock cmpxchgl then movl then movzbl|cmpb
  @_silgen_name("probeOwnedLock")
  @usableFromInline func ownedLockAround() {
    lock.acquire()
    lock.release()
  }

  // A reference that is read under a lock is counted before the lock is released: behind it, another thread may release the object.
  // apple: .*retain then casl; linux: .*retain then stlrb; x86: .*retain then movb
  @_silgen_name("probeRetainUnderLockByte")
  @usableFromInline func retainUnderLockByte() -> Referent? {
    let byte = lockByte.acquire()
    let object = object
    lockByte.release(publishing: byte)
    return object
  }

  // apple: .*retain then casl; linux: .*retain then stlr ; x86: .*retain then movl
  @_silgen_name("probeRetainUnderOwnedLock")
  @usableFromInline func retainUnderOwnedLock() -> Referent? {
    lock.acquire()
    let object = object
    lock.release()
    return object
  }

  // apple: .*retain then casl; linux: .*retain then stlr ; x86: .*retain then movl
  @_silgen_name("probeRetainInContended")
  @usableFromInline func retainInContended() -> Referent? { contended.withLock { $0 } }
}
