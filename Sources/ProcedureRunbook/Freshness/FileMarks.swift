/// Stands for names, sizes and times of the files that a step reads.
struct FileMarks: Equatable, Sendable {
  let inputs: Fingerprint
  /// The same of what its `depfile` names; nil without one.
  var dependencies: Fingerprint?
  /// They may have been changed since: then these are equal to no marks that are found later.
  var isUncertain = false

  init(inputs: Fingerprint, dependencies: Fingerprint? = nil, isUncertain: Bool = false) {
    (self.inputs, self.dependencies) = (inputs, dependencies)
    self.isUncertain = isUncertain
  }

  /// From their text; nil when that is none.
  init?(_ text: ArraySlice<UInt8>) {
    isUncertain = text.last == UInt8(ascii: "?")
    let text = isUncertain ? text.dropLast() : text
    let dash = text.firstIndex(of: UInt8(ascii: "-"))
    guard let inputs = Fingerprint(text[..<(dash ?? text.endIndex)]) else { return nil }
    self.inputs = inputs
    guard let dash else { return }
    guard let dependencies = Fingerprint(text[(dash + 1)...]) else { return nil }
    self.dependencies = dependencies
  }

  var text: String {
    inputs.text + (dependencies.map { "-\($0.text)" } ?? "") + (isUncertain ? "?" : "")
  }
}
