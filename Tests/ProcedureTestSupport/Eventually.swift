/// Returns when `condition` holds: for what another thread is about to do, and nothing tells of. It
/// never gives up, since no number of seconds is enough on every machine; when the test's limit of
/// time ends its task, it returns false.
///
/// It sleeps between two looks, so that it takes no processor from what it waits for.
package func eventually(_ condition: () -> Bool) async -> Bool {
  for _ in 0..<3 {
    if condition() { return true }
    await Task.yield()
  }
  while !condition() {
    guard (try? await Task.sleep(for: .milliseconds(1))) != nil else { return false }
  }
  return true
}
