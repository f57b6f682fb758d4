@testable import ProcedureExclusion

extension ExclusionTable {
  /// A table whose timers call nobody.
  init() { self.init(timeIsUp: { _ in }) }
}
