/// The output for mistakes that would be lost because there is no handler.
package enum StandardError {
  /// Writes a line in one call, so that lines of several threads do not mix.
  package static func write(_ line: String) {
    var line = line
    line.withUTF8 { bytes in
      _ = unsafe writeToDescriptor(2, bytes.baseAddress, bytes.count)
    }
  }

  /// The function of the C library: this module imports only Dispatch.
  @_silgen_name("write")
  private static func writeToDescriptor(
    _ descriptor: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int
  ) -> Int
}
