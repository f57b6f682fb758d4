extension Duration {
  /// Shown as `0.42 s`, `12.3 s` or `3 min 05 s`: about as precise as a reader wants it.
  var text: String {
    let (seconds, attoseconds) = components
    if seconds >= 60 {
      return "\(seconds / 60) min \(String(seconds % 60 + 100).dropFirst()) s"
    }
    let hundredths = seconds * 100 + attoseconds / 10_000_000_000_000_000
    if seconds >= 10 { return "\(hundredths / 100).\(hundredths / 10 % 10) s" }
    return "\(hundredths / 100).\(String(hundredths % 100 + 100).dropFirst()) s"
  }
}
