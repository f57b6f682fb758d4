internal import ProcedurePrimitives
internal import Synchronization

/// A value that the maker of a procedure writes, and only the procedure's turn uses once the
/// procedure is on a queue.
///
/// The turn is one thread at a time, and each holder sees the writes of the previous one, so no
/// lock is needed. No proof can be asked for: overrides such as `execute()` are public, and have no
/// parameter for it. The explorer checks each use instead.
///
/// The value needs no destruction. If it did, the procedure would look for the function that
/// destroys it at run time; and a closure would be wrapped in another one, which is allocated.
@safe struct TurnOwned<Value: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  private let cell: _Cell<Value>
  private let uses = UseCount(of: "what the turn of a procedure owns")

  @inline(__always)
  init(_ value: consuming Value) { cell = _Cell(value) }

  var value: Value {
    @inline(__always) get {
      uses.note()
      return unsafe cell._address.pointee
    }
    @inline(__always) nonmutating _modify {
      uses.note()
      yield unsafe &cell._address.pointee
    }
  }
}
