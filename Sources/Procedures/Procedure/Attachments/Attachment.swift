/// What some procedures have beside what every procedure has: a subclass for each concept. Guarded by the
/// procedure's lock.
@safe class Attachment: @unchecked Sendable {
  /// What becomes of it when the procedure has finished.
  enum Fate: Sendable {
    case leaves
    case stays
    /// It leaves, and that is what is left of it.
    case leavesBehind(Attachment)
  }

  /// The rest of the row that this is in.
  @safe @exclusivity(unchecked) final var next = RowLink()

  required init() {}

  var fate: Fate { .leaves }
}

/// What a row of attachments goes on with: another one, at its end a dependency, or nothing. It owns the
/// reference.
@safe struct RowLink: Sendable {
  private let bits: UInt

  /// Nothing.
  init() { bits = 0 }

  init(_ edge: PlainEdge) { bits = edge.bits }

  init(_ attachment: Unmanaged<Attachment>) {
    bits = UInt(bitPattern: unsafe attachment.toOpaque())
  }

  var isEmpty: Bool { bits == 0 }

  var hasAttachment: Bool { @inline(__always) get { bits != 0 && bits & PlainEdge.mark == 0 } }

  var attachment: Unmanaged<Attachment>? {
    @inline(__always) get {
      guard hasAttachment, let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else {
        return nil
      }
      return unsafe .fromOpaque(pointer)
    }
  }

  /// None, if it goes on with something else.
  var edge: PlainEdge { PlainEdge(bits: bits) }
}
