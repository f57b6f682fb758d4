extension Step {
  /// The name of the executor that runs its command as a job; nil for a program of this machine.
  ///
  /// A service runs here. So does a step with the terminal or with its own launcher, unless the
  /// step names an executor.
  func executor(_ options: Options) -> String? {
    if self.isService { return nil }
    let usual = self.terminal || self.launcher != nil ? nil : options.executor
    let name = self.executorName ?? usual
    return name == Executors.local ? nil : name
  }
}
