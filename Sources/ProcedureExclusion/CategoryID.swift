internal import ProcedurePrimitives

/// A category of mutual exclusion: a type or a name in a domain, or the starts of either in each
/// interval.
///
/// It has the size of one reference. The category of a type in no domain needs no object; that of a
/// name, which each of many waiting requests may have, needs a small one.
package struct CategoryID: Hashable, Sendable, CustomStringConvertible {
  private final class Name: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
  }

  private final class Details: Sendable {
    let type: Any.Type?
    let text: String
    /// Nil for the whole process.
    let domain: (any AnyObject & Sendable)?
    let interval: Duration?

    init(
      type: Any.Type?, text: String, domain: (any AnyObject & Sendable)?, interval: Duration?
    ) {
      self.type = type
      self.text = text
      self.domain = domain
      self.interval = interval
    }
  }

  /// Each category has one form. Without a domain and an interval a type has the first, and a name
  /// the second.
  private enum Form: Sendable {
    case type(Any.Type)
    case name(Name)
    case details(Details)
  }

  private let form: Form

  /// The category of a type.
  ///
  /// - Parameter domain: nil for the whole process.
  package init(_ type: Any.Type, in domain: (any AnyObject & Sendable)?) {
    form =
      domain == nil
      ? .type(type)
      : .details(Details(type: type, text: "", domain: domain, interval: nil))
  }

  /// The category of a name: equal names are the same category.
  package init(named text: String, in domain: (any AnyObject & Sendable)?) {
    form =
      domain == nil
      ? .name(Name(text))
      : .details(Details(type: nil, text: text, domain: domain, interval: nil))
  }

  private init(_ details: Details) { form = .details(details) }

  /// The category of the starts in each such interval.
  package func starts(in interval: Duration) -> Self {
    switch form {
    case .type(let type):
      Self(Details(type: type, text: "", domain: nil, interval: interval))
    case .name(let name):
      Self(Details(type: nil, text: name.text, domain: nil, interval: interval))
    case .details(let all):
      Self(Details(type: all.type, text: all.text, domain: all.domain, interval: interval))
    }
  }

  /// Set for the category of a rate: a place is taken for this long, not until the request leaves.
  package var interval: Duration? {
    guard case .details(let details) = form else { return nil }
    return details.interval
  }

  /// The type's name, or the text.
  package var text: String {
    switch form {
    case .type(let type): typeName(type)
    case .name(let name): name.text
    case .details(let details): details.type.map(typeName) ?? details.text
    }
  }

  /// The text, and the interval of a rate.
  package var description: String {
    interval.map { "starts of \(text) in \($0.short)" } ?? text
  }

  package static func == (left: Self, right: Self) -> Bool {
    switch (left.form, right.form) {
    case (.type(let left), .type(let right)): left == right
    case (.name(let left), .name(let right)): left === right || left.text == right.text
    case (.details(let left), .details(let right)):
      left === right
        || left.type == right.type && left.domain === right.domain && left.text == right.text
          && left.interval == right.interval
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch form {
    case .type(let type): hasher.combine(ObjectIdentifier(type))
    case .name(let name): hasher.combine(name.text)
    case .details(let details):
      if let type = details.type {
        hasher.combine(ObjectIdentifier(type))
      } else {
        hasher.combine(details.text)
      }
      if let domain = details.domain { hasher.combine(ObjectIdentifier(domain)) }
      if let interval = details.interval { hasher.combine(interval) }
    }
  }
}
