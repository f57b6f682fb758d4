extension String {
  /// Shortened for a message: on one line; a long text is cut after 60 characters.
  var shortened: String {
    let text = visible
    return text.unicodeScalars.count <= 80 ? text : "\(text.prefix(60))…"
  }
}
