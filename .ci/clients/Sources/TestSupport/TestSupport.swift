import ProceduresTesting

/// A clock for tests.
public func makeClock() -> TestClock { TestClock() }
