/// The attachments of one procedure, in a row, at most one of each type. Most procedures have none, and one in a
/// chain has `Connections` alone.
///
/// Its references are counted by hand, so that taking some out costs nothing. The procedure calls `release()` when
/// it goes, and its last turn for those that have left.
@safe struct Attachments: Sendable {
  private var first: Unmanaged<Attachment>?

  var isEmpty: Bool { unsafe first == nil }

  /// Calls with the one of that type, if there is one, without counting a reference.
  @inline(__always)
  func withExisting<A: Attachment, Result>(_ type: A.Type, _ body: (A) -> Result) -> Result? {
    var next = unsafe first
    while let attachment = unsafe next {
      let isOfType = unsafe attachment._withUnsafeGuaranteedRef { Swift.type(of: $0) == type }
      if isOfType {
        return unsafe attachment._withUnsafeGuaranteedRef {
          body(unsafe unsafeDowncast($0, to: type))
        }
      }
      unsafe next = attachment._withUnsafeGuaranteedRef { $0.next }
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

  /// The procedure has finished: takes out those that leave.
  mutating func takeLeaving() -> Attachments {
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
    self = staying
    return leaving
  }

  /// Gives up all references. Not under a lock: a user's value may go with them.
  mutating func release() {
    while let attachment = unsafe popFirst() { unsafe attachment.release() }
  }

  @inline(__always)
  private mutating func prepend(_ attachment: Unmanaged<Attachment>) {
    let next = unsafe first
    unsafe attachment._withUnsafeGuaranteedRef { unsafe $0.next = next }
    unsafe first = attachment
  }

  @inline(__always)
  private mutating func popFirst() -> Unmanaged<Attachment>? {
    guard let attachment = unsafe first else { return nil }
    unsafe first = attachment._withUnsafeGuaranteedRef { $0.next }
    return unsafe attachment
  }
}

extension ProcedureCore {
  var connections: Connections? { @inline(__always) get { attachments.existing() } }
  var requirements: StartRequirements? { @inline(__always) get { attachments.existing() } }
  var pending: PendingWork? { @inline(__always) get { attachments.existing() } }
  var links: OuterLinks? { @inline(__always) get { attachments.existing() } }
  var waiters: FinishWaiters? { @inline(__always) get { attachments.existing() } }
  var progress: OwnProgress? { @inline(__always) get { attachments.existing() } }
  var ending: Ending? { @inline(__always) get { attachments.existing() } }
  var givenName: String? { attachments.withExisting(GivenName.self, \.name) ?? nil }
}
