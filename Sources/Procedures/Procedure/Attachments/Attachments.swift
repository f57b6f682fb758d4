internal import ProcedurePrimitives

/// The attachments of one procedure, in a row, at most one of each type; and at the end of the row the only
/// procedure that it depends on. Most procedures have neither, and one in a chain has that dependency alone.
///
/// Its references are counted by hand, so that taking some out costs nothing. The procedure calls `release()` when
/// it goes, and its last turn for those that have left.
@safe struct Attachments: Sendable {
  private var first = RowLink()

  /// Whether there are neither attachments nor the dependency.
  var isEmpty: Bool { first.isEmpty }

  /// Whether there are attachments.
  var hasAny: Bool { @inline(__always) get { first.hasAttachment } }

  /// Calls with the one of that type, if there is one, without counting a reference.
  @inline(__always)
  func withExisting<A: Attachment, Result>(_ type: A.Type, _ body: (A) -> Result) -> Result? {
    var link = first
    while let attachment = unsafe link.attachment {
      let isOfType = unsafe attachment._withUnsafeGuaranteedRef { Swift.type(of: $0) == type }
      if isOfType {
        return unsafe attachment._withUnsafeGuaranteedRef {
          body(unsafe unsafeDowncast($0, to: type))
        }
      }
      link = unsafe attachment._withUnsafeGuaranteedRef { $0.next }
    }
    return nil
  }

  /// Calls with the one of that type, made if need be.
  @inline(__always)
  mutating func with<A: Attachment, Result>(_ type: A.Type, _ body: (A) -> Result) -> Result {
    if let result = withExisting(type, body) { return result }
    let new = A()
    unsafe prepend(.passRetained(new))
    return body(new)
  }

  /// The one of that type, if there is one.
  @inline(__always)
  func existing<A: Attachment>(_ type: A.Type = A.self) -> A? { withExisting(type) { $0 } }

  /// The dependency at the end of the row. What is replaced was none, or has been taken out.
  var onlyDependency: PlainEdge {
    @inline(__always) get { first.hasAttachment ? endBehindAttachments : first.edge }
    @inline(__always) set {
      if first.hasAttachment { setEnd(newValue) } else { first = RowLink(newValue) }
    }
  }

  /// The dependency, which is not there any more; nil if there is none.
  @inline(__always)
  mutating func takeOnlyDependency() -> Edge? {
    var only = onlyDependency
    guard let edge = only.takeDependency() else { return nil }
    onlyDependency = only
    return edge
  }

  private var endBehindAttachments: PlainEdge {
    var link = first
    while let attachment = unsafe link.attachment {
      link = unsafe attachment._withUnsafeGuaranteedRef { $0.next }
    }
    return link.edge
  }

  @inline(never)
  private func setEnd(_ edge: PlainEdge) {
    var link = first
    while let attachment = unsafe link.attachment {
      link = unsafe attachment._withUnsafeGuaranteedRef { $0.next }
      if !link.hasAttachment {
        unsafe attachment._withUnsafeGuaranteedRef { $0.next = RowLink(edge) }
      }
    }
  }

  /// The procedure has finished: takes out those that leave, and the dependency.
  @inline(__always)
  mutating func takeLeaving() -> Attachments {
    if hasAny { return takeLeavingAmongMany() }
    return exchange(&self, with: Attachments())
  }

  @inline(never)
  private mutating func takeLeavingAmongMany() -> Attachments {
    var leaving = Attachments()
    var staying = Attachments()
    while let attachment = unsafe popFirst() {
      switch unsafe attachment._withUnsafeGuaranteedRef({ $0.fate }) {
      case .leaves:
        unsafe leaving.prepend(attachment)
      case .stays:
        unsafe staying.prepend(attachment)
      case .leavesBehind(let remainder):
        unsafe leaving.prepend(attachment)
        unsafe staying.prepend(.passRetained(remainder))
      }
    }
    leaving.onlyDependency = first.edge
    self = staying
    return leaving
  }

  /// Gives up all references to attachments. Not under a lock: a user's value may go with them.
  mutating func release() {
    while let attachment = unsafe popFirst() { unsafe attachment.release() }
  }

  @inline(__always)
  private mutating func prepend(_ attachment: Unmanaged<Attachment>) {
    let next = first
    unsafe attachment._withUnsafeGuaranteedRef { $0.next = next }
    first = unsafe RowLink(attachment)
  }

  @inline(__always)
  private mutating func popFirst() -> Unmanaged<Attachment>? {
    guard let attachment = unsafe first.attachment else { return nil }
    first = unsafe attachment._withUnsafeGuaranteedRef { $0.next }
    return unsafe attachment
  }
}

extension ProcedureCore {
  var connections: Connections? { @inline(__always) get { attachments.existing() } }
  var values: Values? { @inline(__always) get { attachments.existing() } }
  var requirements: StartRequirements? { @inline(__always) get { attachments.existing() } }
  var pending: PendingWork? { @inline(__always) get { attachments.existing() } }
  var links: OuterLinks? { @inline(__always) get { attachments.existing() } }
  var waiters: FinishWaiters? { @inline(__always) get { attachments.existing() } }
  var progress: OwnProgress? { @inline(__always) get { attachments.existing() } }
  var ending: Ending? { @inline(__always) get { attachments.existing() } }
  var givenName: String? { attachments.withExisting(GivenName.self, \.name) ?? nil }
}
