package import Testing

/// The standard error of a process that an exit test has observed.
package func message(of result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}
