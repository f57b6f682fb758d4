extension Step {
  /// The name of what its command is a job of; nil for a program of this machine.
  ///
  /// A service runs here. What has the terminal, or a launcher of its own, is none unless it says so.
  func executor(_ options: Options) -> String? {
    if self.isService { return nil }
    let usual = self.terminal || self.launcher != nil ? nil : options.executor
    let name = self.executorName ?? usual
    return name == Executors.local ? nil : name
  }
}
