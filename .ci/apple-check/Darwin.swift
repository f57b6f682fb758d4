// swift-format-ignore-file
// What the package uses of the Swift half of Apple's module Darwin: what C's macros and variadic functions become.
// The other half are the C headers.
@_exported import Darwin

public var errno: Int32 {
  get { unsafe __error().pointee }
  set { unsafe __error().pointee = newValue }
}
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt { fatalError() }

public var S_IFMT: mode_t { 0o170000 }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFCHR: mode_t { 0o020000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFLNK: mode_t { 0o120000 }
public var S_IFSOCK: mode_t { 0o140000 }

public typealias sig_handler_t = @convention(c) (Int32) -> Void
public var SIG_DFL: sig_handler_t? { nil }
public var SIG_IGN: sig_handler_t { unsafe unsafeBitCast(1, to: sig_handler_t.self) }
public var MAP_FAILED: UnsafeMutableRawPointer! { unsafe UnsafeMutableRawPointer(bitPattern: -1) }
public var TIOCGWINSZ: UInt { 0x4008_7468 }
// By Apple's API notes.
public var CLOCK_REALTIME: clockid_t { _CLOCK_REALTIME }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { _CLOCK_THREAD_CPUTIME_ID }
public var CLOCK_PROCESS_CPUTIME_ID: clockid_t { _CLOCK_PROCESS_CPUTIME_ID }
public var CLOCK_MONOTONIC: clockid_t { _CLOCK_MONOTONIC }
// Of util.h.
public func openpty(
  _ master: UnsafeMutablePointer<Int32>!, _ slave: UnsafeMutablePointer<Int32>!, _ name: UnsafeMutablePointer<CChar>!,
  _ settings: UnsafeMutablePointer<termios>!, _ size: UnsafeMutablePointer<winsize>!
) -> Int32 { fatalError() }
