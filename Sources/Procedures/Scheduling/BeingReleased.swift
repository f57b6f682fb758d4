internal import ProcedurePrimitives

/// Whether `object` is in its `deinit`, where it must not be retained.
///
/// It allocates a side table if the object is alive, so call it on rare paths only.
@inline(never)
func isBeingReleased(_ object: some AnyObject) -> Bool {
  Weak(object).object == nil
}
