#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// The identity of a thread, valid while the thread lives.
struct ThreadMark: Sendable, Equatable {
  private let bits: UInt

  static var current: ThreadMark {
    #if canImport(Darwin) || canImport(Musl)
      unsafe ThreadMark(bits: UInt(bitPattern: pthread_self()))
    #else
      ThreadMark(bits: UInt(pthread_self()))
    #endif
  }
}
