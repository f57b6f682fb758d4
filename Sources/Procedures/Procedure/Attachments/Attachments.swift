internal import ProcedurePrimitives

/// The attachments of one procedure, in a row.
struct Attachments: Sendable {
  private var first: Attachment?

  var isEmpty: Bool { @inline(__always) get { first == nil } }

  /// The one of that type, if there is one.
  @inline(__always)
  func existing<A: Attachment>(_ type: A.Type = A.self) -> A? {
    var next = first
    while let attachment = next {
      // Subclasses are final, so this is what `as?` finds out in ten times the instructions.
      if Swift.type(of: attachment) == type { return unsafe unsafeDowncast(attachment, to: type) }
      next = attachment.next
    }
    return nil
  }

  /// Calls with the one of that type, if there is one.
  @inline(__always)
  func withExisting<A: Attachment, Result>(_ type: A.Type, _ body: (A) -> Result) -> Result? {
    existing(type).map(body)
  }

  /// Calls with the one of that type, made if need be.
  @inline(__always)
  mutating func with<A: Attachment, Result>(_ type: A.Type, _ body: (A) -> Result) -> Result {
    if let found = existing(type) { return body(found) }
    let new = A()
    prepend(new)
    return body(new)
  }

  @inline(__always)
  mutating func prepend(_ attachment: Attachment) {
    attachment.next = first.take()
    first = attachment
  }

  /// The procedure has finished: keeps what remains.
  ///
  /// - Returns: the others, to be released without the lock: a user's value may go with them.
  @inline(never)
  mutating func takeLeaving() -> Attachments {
    var leaving: Attachment?
    var rest = first
    first = nil
    while let attachment = rest {
      rest = attachment.next
      let remainder = attachment.remainder
      if let remainder {
        remainder.next = first
        first = remainder
      }
      if remainder !== attachment {
        attachment.next = leaving
        leaving = attachment
      }
    }
    return Attachments(first: leaving)
  }

  /// Whether one of them shows that the procedure's work goes on.
  var showWork: Bool {
    var next = first
    while let attachment = next {
      if attachment.showsWork { return true }
      next = attachment.next
    }
    return false
  }

  /// Whether that is the only one.
  @inline(__always)
  func are(only attachment: Attachment) -> Bool { first === attachment && attachment.next == nil }

  @inline(__always)
  func forEach(_ body: (Attachment) -> Void) {
    var next = first
    while let attachment = next {
      body(attachment)
      next = attachment.next
    }
  }
}

extension ProcedureCore {
  var requirements: StartRequirements? { @inline(__always) get { attachments.existing() } }
  var pending: PendingWork? { @inline(__always) get { attachments.existing() } }
  var links: OuterLinks? { @inline(__always) get { attachments.existing() } }
  var waiters: FinishWaiters? { @inline(__always) get { attachments.existing() } }
  var ending: Ending? { @inline(__always) get { attachments.existing() } }
  var givenName: String? { attachments.existing(GivenName.self)?.name }
}
