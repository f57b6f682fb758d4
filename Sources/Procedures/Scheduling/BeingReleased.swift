internal import ProcedurePrimitives

/// Whether `object` is in its `deinit`, where nothing may keep it any longer.
///
/// Makes a side table of an object that is not: for rare ways only.
@inline(never)
func isBeingReleased(_ object: some AnyObject) -> Bool {
  Weak(object).object == nil
}
