/// Keeps the optimiser from seeing that no code needs a value.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: borrowing Value) {}
