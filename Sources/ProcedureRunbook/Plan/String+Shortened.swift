extension String {
  /// As it may stand in a message: on one line, and not endless.
  var shortened: String {
    let text = visible
    return text.unicodeScalars.count <= 80 ? text : "\(text.prefix(60))…"
  }
}
