package import Foundation

extension URL {
  /// The root of the package, for tests that read its sources and documents.
  package static let packageRoot = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
}
