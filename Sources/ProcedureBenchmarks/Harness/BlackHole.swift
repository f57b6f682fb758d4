/// Keeps the optimiser from seeing that nobody needs a value.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: borrowing Value) {}
