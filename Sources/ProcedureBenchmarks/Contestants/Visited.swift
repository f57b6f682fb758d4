/// What one task at a time may use, instead of procedures of one category.
actor Visited {
  func note() { Tally.note() }
}
