internal import Foundation
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

extension FileHandle {
  /// Whether the file at `place` is still the open one: not removed, moved or replaced meanwhile.
  /// A symbolic link to it is not.
  func isStill(at place: URL) -> Bool {
    var (opened, found) = (stat(), stat())
    guard unsafe fstat(fileDescriptor, &opened) == 0 else { return false }
    let isThere = unsafe place.withUnsafeFileSystemRepresentation { path in
      guard let path = unsafe path else { return false }
      return unsafe lstat(path, &found) == 0
    }
    return isThere && opened.st_ino == found.st_ino && opened.st_dev == found.st_dev
  }

  /// Gives the open file the permissions of the file that it will replace, if that is there.
  ///
  /// - Parameter own: permissions that it has in any case.
  func takePermissions(of file: URL, adding own: mode_t = 0) {
    guard let mode = file.fileMode(followingLinks: false), mode & S_IFMT == S_IFREG else { return }
    _ = fchmod(fileDescriptor, mode & 0o777 | own)
  }

  /// - Throws: the error of a missing file if the open one is not at `place` any more.
  func checkPlace(_ place: URL) throws {
    guard isStill(at: place) else { throw CocoaError.writing(place, failedWith: ENOENT) }
  }
}
