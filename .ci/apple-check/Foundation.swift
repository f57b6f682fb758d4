// swift-format-ignore-file
// What the package uses of Apple's Foundation, as its Swift interface declares it there. Types only: written from the
// documented signatures, with the stricter one where versions of the SDK differ.
@_exported import Dispatch
@_exported import Darwin
@_exported import ObjectiveC

@objc open class NSObject: Equatable, Hashable {
  @objc public init() {}
  public static func == (a: NSObject, b: NSObject) -> Bool { fatalError() }
  open func hash(into hasher: inout Hasher) { fatalError() }
  @objc open func willChangeValue(forKey key: String) { fatalError() }
  @objc open func didChangeValue(forKey key: String) { fatalError() }
  @objc open func copy() -> Any { fatalError() }
}

@objc open class NSString: NSObject {}
@objc open class NSData: NSObject {}
@objc open class NSURL: NSObject {}
@objc open class NSURLRequest: NSObject {}
@objc open class NSError: NSObject, Error { open var code: Int { fatalError() } }
public protocol _Bridged: _ObjectiveCBridgeable {}
extension _Bridged {
  public func _bridgeToObjectiveC() -> _ObjectiveCType { fatalError() }
  public static func _forceBridgeFromObjectiveC(_ source: _ObjectiveCType, result: inout Self?) {}
  public static func _conditionallyBridgeFromObjectiveC(_ source: _ObjectiveCType, result: inout Self?) -> Bool { fatalError() }
  public static func _unconditionallyBridgeFromObjectiveC(_ source: _ObjectiveCType?) -> Self { fatalError() }
}
extension String: _Bridged { public typealias _ObjectiveCType = NSString }
extension Data: _Bridged { public typealias _ObjectiveCType = NSData }
extension URL: _Bridged { public typealias _ObjectiveCType = NSURL }
extension URLRequest: _Bridged { public typealias _ObjectiveCType = NSURLRequest }

// MARK: Key-value observing

public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
}
public struct NSKeyValueObservedChange<Value> {
  public let newValue: Value?
  public let oldValue: Value?
}
public final class NSKeyValueObservation: NSObject { public func invalidate() {} }
public protocol _KeyValueCodingAndObserving {}
extension NSObject: _KeyValueCodingAndObserving {}
extension _KeyValueCodingAndObserving {
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation { fatalError() }
}

// MARK: Operations

@objcMembers open class Operation: NSObject, @unchecked Sendable {
  public enum QueuePriority: Int, @unchecked Sendable {
    case veryLow = -8, low = -4, normal = 0, high = 4, veryHigh = 8
  }
  public override init() {}
  open func start() {}
  open func main() {}
  open dynamic var isCancelled: Bool { fatalError() }
  open func cancel() {}
  open var isExecuting: Bool { fatalError() }
  open dynamic var isFinished: Bool { fatalError() }
  open var isConcurrent: Bool { fatalError() }
  open var isAsynchronous: Bool { fatalError() }
  open var isReady: Bool { fatalError() }
  open func addDependency(_ op: Operation) {}
  open func removeDependency(_ op: Operation) {}
  open var dependencies: [Operation] { fatalError() }
  open var queuePriority: QueuePriority { get { fatalError() } set {} }
  @preconcurrency open var completionBlock: (@Sendable () -> Void)? { get { fatalError() } set {} }
  open func waitUntilFinished() {}
  open var name: String? { get { fatalError() } set {} }
}
open class BlockOperation: Operation, @unchecked Sendable {
  @preconcurrency public convenience init(block: @escaping @Sendable () -> Void) { fatalError() }
}
@objcMembers open class OperationQueue: NSObject, @unchecked Sendable {
  public override init() {}
  open func addOperation(_ op: Operation) {}
  @preconcurrency @objc(addOperationWithBlock:) open func addOperation(_ block: @escaping @Sendable () -> Void) {}
  open var maxConcurrentOperationCount: Int { get { fatalError() } set {} }
  open var isSuspended: Bool { get { fatalError() } set {} }
  open var name: String? { get { fatalError() } set {} }
  unowned(unsafe) open var underlyingQueue: DispatchQueue? { get { fatalError() } set {} }
  @preconcurrency open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {}
  open func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {}
  open var operationCount: Int { fatalError() }
  open var operations: [Operation] { fatalError() }
  open func cancelAllOperations() {}
  open func waitUntilAllOperationsAreFinished() {}
  open class var current: OperationQueue? { fatalError() }
  open class var main: OperationQueue { fatalError() }
}

// MARK: Progress

public struct ProgressUserInfoKey: Hashable, Sendable {}
@objcMembers open class Progress: NSObject, @unchecked Sendable {
  public init(parent parentProgressOrNil: Progress?, userInfo userInfoOrNil: [ProgressUserInfoKey: Any]? = nil) {}
  public convenience init(totalUnitCount unitCount: Int64) { fatalError() }
  open func addChild(_ child: Progress, withPendingUnitCount inUnitCount: Int64) {}
  open var totalUnitCount: Int64 { get { fatalError() } set {} }
  open var completedUnitCount: Int64 { get { fatalError() } set {} }
  open var isCancellable: Bool { get { fatalError() } set {} }
  open var isPausable: Bool { get { fatalError() } set {} }
  open dynamic var isCancelled: Bool { fatalError() }
  open var isPaused: Bool { fatalError() }
  open var cancellationHandler: (@Sendable () -> Void)? { get { fatalError() } set {} }
  open var pausingHandler: (@Sendable () -> Void)? { get { fatalError() } set {} }
  open var resumingHandler: (@Sendable () -> Void)? { get { fatalError() } set {} }
  open var isIndeterminate: Bool { fatalError() }
  open dynamic var fractionCompleted: Double { fatalError() }
  open dynamic var isFinished: Bool { fatalError() }
  open func cancel() {}
  open func pause() {}
  open func resume() {}
}

// MARK: Values

public typealias TimeInterval = Double
public struct Date: Comparable, Hashable, Codable, Sendable {
  public init() { fatalError() }
  public init(timeIntervalSinceNow: TimeInterval) { fatalError() }
  public init(timeIntervalSince1970: TimeInterval) { fatalError() }
  public static var now: Date { fatalError() }
  public static var distantFuture: Date { fatalError() }
  public static var distantPast: Date { fatalError() }
  public var timeIntervalSinceNow: TimeInterval { fatalError() }
  public var timeIntervalSince1970: TimeInterval { fatalError() }
  public func addingTimeInterval(_ t: TimeInterval) -> Date { fatalError() }
  public static func < (a: Date, b: Date) -> Bool { fatalError() }
}
extension Date {
  public struct ISO8601FormatStyle: Sendable { public init(includingFractionalSeconds: Bool = false) {} }
  public func formatted(_ style: ISO8601FormatStyle) -> String { fatalError() }
}
extension Date.ISO8601FormatStyle { public static var iso8601: Date.ISO8601FormatStyle { fatalError() } }
public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}
public struct Data: RandomAccessCollection, MutableCollection, RangeReplaceableCollection, Hashable, Sendable, Codable, DataProtocol {
  public struct ReadingOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue } }
  public struct WritingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let atomic = WritingOptions(rawValue: 1)
  }
  public init() { fatalError() }
  public init<S: Sequence>(_ elements: S) where S.Element == UInt8 { fatalError() }
  public init(contentsOf url: URL, options: ReadingOptions = []) throws { fatalError() }
  public struct Base64DecodingOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue } }
  public init?(base64Encoded text: String, options: Base64DecodingOptions = []) { fatalError() }
  public init(bytes: UnsafeRawPointer, count: Int) { fatalError() }
  public func write(to url: URL, options: WritingOptions = []) throws { fatalError() }
  public var startIndex: Int { fatalError() }
  public var endIndex: Int { fatalError() }
  public subscript(i: Int) -> UInt8 { get { fatalError() } set {} }
  public subscript(bounds: Range<Int>) -> Data { get { fatalError() } set {} }
  public mutating func replaceSubrange<C: Collection>(_ r: Range<Int>, with new: C) where C.Element == UInt8 {}
  public mutating func append(_ other: Data) {}
  public mutating func append(contentsOf bytes: [UInt8]) {}
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public struct SearchOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue } }
  public func range<D: DataProtocol>(of dataToFind: D, options: SearchOptions = [], in range: Range<Int>? = nil) -> Range<Int>? { fatalError() }
  public init(repeating: UInt8, count: Int) { fatalError() }
  public init(count: Int) { fatalError() }
  public init(capacity: Int) { fatalError() }
  public func index(before i: Int) -> Int { fatalError() }
  public func index(after i: Int) -> Int { fatalError() }
}
public struct URL: Hashable, Sendable, Codable, CustomStringConvertible {
  public init?(string: String, relativeTo: URL?) { fatalError() }
  public var absoluteURL: URL { fatalError() }
  public enum DirectoryHint: Sendable { case isDirectory, notDirectory, checkFileSystem, inferFromPath }
  public init?(string: String) { fatalError() }
  public init(fileURLWithPath path: String) { fatalError() }
  @unsafe public init(
    fileURLWithFileSystemRepresentation path: UnsafePointer<Int8>, isDirectory: Bool,
    relativeTo baseURL: URL?
  ) { fatalError() }
  public init(filePath path: String, directoryHint: DirectoryHint = .inferFromPath, relativeTo base: URL? = nil) { fatalError() }
  public var absoluteString: String { fatalError() }
  public var path: String { fatalError() }
  public func path(percentEncoded: Bool = true) -> String { fatalError() }
  public var port: Int? { fatalError() }
  public var standardizedFileURL: URL { fatalError() }
  public func resolvingSymlinksInPath() -> URL { fatalError() }
  public func deletingPathExtension() -> URL { fatalError() }
  public var pathExtension: String { fatalError() }
  public var isFileURL: Bool { fatalError() }
  public var scheme: String? { fatalError() }
  public func host(percentEncoded: Bool = true) -> String? { fatalError() }
  public var lastPathComponent: String { fatalError() }
  public var pathComponents: [String] { fatalError() }
  public mutating func deleteLastPathComponent() {}
  public func deletingLastPathComponent() -> URL { fatalError() }
  public func appending<S: StringProtocol>(path: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { fatalError() }
  public func appending<S: StringProtocol>(component: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { fatalError() }
  public func appendingPathComponent(_ c: String) -> URL { fatalError() }
  public func appendingPathExtension(_ c: String) -> URL { fatalError() }
  public func withUnsafeFileSystemRepresentation<R>(_ block: (UnsafePointer<Int8>?) throws -> R) rethrows -> R { fatalError() }
  public var description: String { fatalError() }
}
public struct UUID: Hashable, Sendable {
  public init() { fatalError() }
  public var uuidString: String { fatalError() }
}
public struct Locale: Sendable { public init(identifier: String) {} ; public static let current = Locale(identifier: "") }
public struct TimeZone: Sendable { public init?(identifier: String) {} ; public init?(secondsFromGMT: Int) {} }
open class DateFormatter: NSObject {
  open var locale: Locale! { get { fatalError() } set {} }
  open var timeZone: TimeZone! { get { fatalError() } set {} }
  open var dateFormat: String! { get { fatalError() } set {} }
  open func date(from: String) -> Date? { fatalError() }
  open func string(from: Date) -> String { fatalError() }
}
open class ProcessInfo: NSObject, @unchecked Sendable {
  open class var processInfo: ProcessInfo { fatalError() }
  open var physicalMemory: UInt64 { fatalError() }
  open var operatingSystemVersionString: String { fatalError() }
  open var processorCount: Int { fatalError() }
  open var activeProcessorCount: Int { fatalError() }
  open var environment: [String: String] { fatalError() }
  open var arguments: [String] { fatalError() }
}
open class RunLoop: NSObject {
  open class var main: RunLoop { fatalError() }
  open class var current: RunLoop { fatalError() }
}
extension RunLoop {
  public struct Mode: Hashable, Sendable { public static let `default` = Mode(); public static let common = Mode() }
  public func run(mode: Mode, before limitDate: Date) -> Bool { fatalError() }
  public func run() {}
  public func run(until limitDate: Date) {}
}
open class FileManager: NSObject, @unchecked Sendable {
  open class var `default`: FileManager { fatalError() }
  open func fileExists(atPath: String) -> Bool { fatalError() }
  open func createSymbolicLink(atPath path: String, withDestinationPath destPath: String) throws { fatalError() }
  open func fileExists(atPath: String, isDirectory: UnsafeMutablePointer<ObjCBool>?) -> Bool { fatalError() }
  open func isExecutableFile(atPath: String) -> Bool { fatalError() }
  open func isReadableFile(atPath: String) -> Bool { fatalError() }
  open func createFile(atPath: String, contents: Data?, attributes: [FileAttributeKey: Any]? = nil) -> Bool { fatalError() }
  open func attributesOfItem(atPath: String) throws -> [FileAttributeKey: Any] { fatalError() }
  open func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath: String) throws {}
  open func copyItem(at: URL, to: URL) throws {}
  open func copyItem(atPath: String, toPath: String) throws {}
  open func contentsOfDirectory(at: URL, includingPropertiesForKeys: [URLResourceKey]?) throws -> [URL] { fatalError() }
  open func subpathsOfDirectory(atPath: String) throws -> [String] { fatalError() }
  open func enumerator(atPath: String) -> DirectoryEnumerator? { fatalError() }
  open func enumerator(at: URL, includingPropertiesForKeys: [URLResourceKey]?) -> DirectoryEnumerator? { fatalError() }
  open class DirectoryEnumerator: NSObject, Sequence, IteratorProtocol {
    public func next() -> Any? { nil }
    open var allObjects: [Any] { fatalError() }
  }
  open func removeItem(at: URL) throws {}
  open func removeItem(atPath: String) throws {}
  open func moveItem(at: URL, to: URL) throws {}
  open func linkItem(atPath: String, toPath: String) throws {}
  open func createDirectory(at: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil) throws {}
  open func createDirectory(atPath: String, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil) throws {}
  open func contentsOfDirectory(atPath: String) throws -> [String] { fatalError() }
  open var temporaryDirectory: URL { fatalError() }
  open var currentDirectoryPath: String { fatalError() }
  open func contents(atPath: String) -> Data? { fatalError() }
}
public struct FileAttributeKey: Hashable, Sendable {
  public static let posixPermissions = FileAttributeKey()
  public static let modificationDate = FileAttributeKey()
  public static let size = FileAttributeKey()
}
public struct URLResourceKey: Hashable, Sendable {}
extension String {
  public enum Encoding: Sendable { case utf8 }
  public init(contentsOfFile: String, encoding: Encoding) throws { fatalError() }
  public init(contentsOf: URL, encoding: Encoding) throws { fatalError() }
  public func data(using: Encoding, allowLossyConversion: Bool = false) -> Data? { fatalError() }
}
public protocol LocalizedError: Error {
  var errorDescription: String? { get }
  var failureReason: String? { get }
  var recoverySuggestion: String? { get }
}
extension LocalizedError {
  public var errorDescription: String? { nil }
  public var failureReason: String? { nil }
  public var recoverySuggestion: String? { nil }
}
public struct CharacterSet: Sendable { public static let whitespaces = CharacterSet(); public static let whitespacesAndNewlines = CharacterSet() }
extension StringProtocol {
  public func trimmingCharacters(in set: CharacterSet) -> String { fatalError() }
  public func components<T: StringProtocol>(separatedBy separator: T) -> [String] { fatalError() }
}
open class FileHandle: NSObject, @unchecked Sendable {
  open class var standardOutput: FileHandle { fatalError() }
  open class var standardError: FileHandle { fatalError() }
  open func write(_ data: Data) {}
  open func readDataToEndOfFile() -> Data { fatalError() }
  open class var nullDevice: FileHandle { fatalError() }
  open func closeFile() {}
  open var fileDescriptor: Int32 { fatalError() }
  open var availableData: Data { fatalError() }
}
extension FileHandle {
  public convenience init(forWritingTo url: URL) throws { fatalError() }
  public convenience init(forReadingFrom url: URL) throws { fatalError() }
  public convenience init(fileDescriptor: Int32, closeOnDealloc: Bool) { fatalError() }
  public func write<T: DataProtocol>(contentsOf data: T) throws {}
  public func close() throws {}
  public func synchronize() throws {}
  @discardableResult public func seekToEnd() throws -> UInt64 { fatalError() }
  public func offset() throws -> UInt64 { fatalError() }
  public func truncate(atOffset offset: UInt64) throws {}
  public func readToEnd() throws -> Data? { fatalError() }
}
extension Error { public var localizedDescription: String { fatalError() } }
public struct POSIXError: Error, Hashable, Sendable {
  public typealias Code = POSIXErrorCode
  public init(_ code: POSIXErrorCode, userInfo: [String: Any] = [:]) {}
}
public struct POSIXErrorCode: RawRepresentable, Sendable, Hashable {
  public var rawValue: Int32
  public init?(rawValue: Int32) { fatalError() }
  public static let EPERM = POSIXErrorCode(rawValue: 1)!
  public static let ENOENT = POSIXErrorCode(rawValue: 2)!
  public static let EIO = POSIXErrorCode(rawValue: 5)!
  public static let ELOOP = POSIXErrorCode(rawValue: 62)!
  public static let EADDRNOTAVAIL = POSIXErrorCode(rawValue: 49)!
  public static let EMFILE = POSIXErrorCode(rawValue: 24)!
}
public struct CocoaError: Error, Sendable {
  public struct Code: RawRepresentable, Sendable, Hashable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static var fileWriteUnknown: Code { fatalError() }
    public static var fileWriteNoPermission: Code { fatalError() }
    public static var fileWriteOutOfSpace: Code { fatalError() }
    public static var fileNoSuchFile: Code { fatalError() }
    public static var fileLocking: Code { fatalError() }
  }
  public init(_ code: Code, userInfo: [String: Any] = [:]) {}
  public var code: Code { fatalError() }
  public var filePath: String? { fatalError() }
  public var underlying: Error? { fatalError() }
}
public let NSFilePathErrorKey = ""
public let NSLocalizedDescriptionKey = ""
public let NSURLErrorFailingURLErrorKey = ""
public let NSUnderlyingErrorKey = ""
open class JSONEncoder: @unchecked Sendable {
  public struct OutputFormatting: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let sortedKeys = OutputFormatting(rawValue: 2)
    public static let prettyPrinted = OutputFormatting(rawValue: 1)
    public static let withoutEscapingSlashes = OutputFormatting(rawValue: 8)
  }
  public init() {}
  open var outputFormatting: OutputFormatting { get { fatalError() } set {} }
  open func encode<T: Encodable>(_ value: T) throws -> Data { fatalError() }
}
open class JSONDecoder: @unchecked Sendable {
  public init() {}
  open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}
open class Stream: NSObject {
  public enum Status: UInt, Sendable { case notOpen, opening, open, reading, writing, atEnd, closed, error }
  open var streamStatus: Status { fatalError() }
  open var streamError: (any Error)? { fatalError() }
  open func open() {}
  open func close() {}
}
open class InputStream: Stream {
  public init(data: Data) {}
  open func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { fatalError() }
}

open class Thread: NSObject, @unchecked Sendable {
  open class var current: Thread { fatalError() }
  open class var isMainThread: Bool { fatalError() }
  open class var main: Thread { fatalError() }
  open class func sleep(forTimeInterval ti: TimeInterval) {}
  @preconcurrency open class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
  open var stackSize: Int { get { fatalError() } set {} }
  open var name: String? { get { fatalError() } set {} }
  @preconcurrency public convenience init(block: @escaping @Sendable () -> Void) { fatalError() }
  open func start() {}
}
open class NSLock: NSObject, @unchecked Sendable {
  open func lock() {}
  open func unlock() {}
}
extension NSLock { public func withLock<R>(_ body: () throws -> R) rethrows -> R { fatalError() } }
open class Pipe: NSObject, @unchecked Sendable { open var fileHandleForReading: FileHandle { fatalError() } }
#if os(macOS)
  open class Process: NSObject, @unchecked Sendable {
    open var executableURL: URL? { get { fatalError() } set {} }
    open var arguments: [String]? { get { fatalError() } set {} }
    open var environment: [String: String]? { get { fatalError() } set {} }
    open var currentDirectoryURL: URL? { get { fatalError() } set {} }
    open var standardOutput: Any? { get { fatalError() } set {} }
    open var standardError: Any? { get { fatalError() } set {} }
    open var standardInput: Any? { get { fatalError() } set {} }
    open var terminationStatus: Int32 { fatalError() }
    open var processIdentifier: Int32 { fatalError() }
    open func run() throws {}
    open func waitUntilExit() {}
    open func terminate() {}
  }
#endif
open class Bundle: NSObject, @unchecked Sendable {
  open class var allBundles: [Bundle] { fatalError() }
  open class var main: Bundle { fatalError() }
  open var bundleURL: URL { fatalError() }
  open var bundlePath: String { fatalError() }
}
open class JSONSerialization: NSObject {
  open class func jsonObject(with data: Data) throws -> Any { fatalError() }
}
public struct FloatingPointFormatStyle<Value: BinaryFloatingPoint>: Sendable {
  public struct Precision: Sendable { public static func fractionLength(_ n: Int) -> Precision { fatalError() } }
  public func precision(_ p: Precision) -> Self { fatalError() }
  public func locale(_ l: Locale) -> Self { fatalError() }
}
extension FloatingPointFormatStyle where Value == Double { public static var number: FloatingPointFormatStyle<Double> { fatalError() } }
extension BinaryFloatingPoint { public func formatted(_ style: FloatingPointFormatStyle<Self>) -> String { fatalError() } }
extension String {
  public init(format: String, _ arguments: any CVarArg...) { fatalError() }
  public init?(data: Data, encoding: Encoding) { fatalError() }
  public func write(toFile: String, atomically: Bool, encoding: Encoding) throws {}
  public func write(to: URL, atomically: Bool, encoding: Encoding) throws {}
}
extension StringProtocol {
  public func range<T: StringProtocol>(of: T) -> Range<String.Index>? { fatalError() }
  public func replacingOccurrences<A: StringProtocol, B: StringProtocol>(of: A, with: B) -> String { fatalError() }
  public func contains<T: StringProtocol>(_ other: T) -> Bool { fatalError() }
}

// MARK: URL loading

public struct URLError: Error, Hashable, Sendable {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static var unknown: Code { Code(rawValue: -1) }
    public static var cancelled: Code { Code(rawValue: -999) }
    public static var badURL: Code { fatalError() }
    public static var serverCertificateUntrusted: Code { fatalError() }
    public static var timedOut: Code { fatalError() }
    public static var unsupportedURL: Code { fatalError() }
    public static var cannotFindHost: Code { fatalError() }
    public static var cannotConnectToHost: Code { fatalError() }
    public static var networkConnectionLost: Code { fatalError() }
    public static var dnsLookupFailed: Code { fatalError() }
    public static var notConnectedToInternet: Code { fatalError() }
    public static var badServerResponse: Code { fatalError() }
    public static var requestBodyStreamExhausted: Code { fatalError() }
    public static var secureConnectionFailed: Code { fatalError() }
    public static var cannotLoadFromNetwork: Code { fatalError() }
    public static var cannotWriteToFile: Code { fatalError() }
    public static var cannotCreateFile: Code { fatalError() }
    public static var internationalRoamingOff: Code { fatalError() }
    public static var callIsActive: Code { fatalError() }
    public static var dataNotAllowed: Code { fatalError() }
    public static var backgroundSessionWasDisconnected: Code { fatalError() }
    public static var userCancelledAuthentication: Code { fatalError() }
    public static var httpTooManyRedirects: Code { fatalError() }
    public static var cannotParseResponse: Code { fatalError() }
    public static var cannotDecodeContentData: Code { fatalError() }
    public static var fileDoesNotExist: Code { fatalError() }
    public static var fileIsDirectory: Code { fatalError() }
    public static var noPermissionsToReadFile: Code { fatalError() }
    public static var cannotOpenFile: Code { fatalError() }
  }
  public init(_ code: Code, userInfo: [String: Any] = [:]) { fatalError() }
  public var code: Code { fatalError() }
  public var userInfo: [String: Any] { fatalError() }
  public static var cancelled: Code { .cancelled }
  public static var unknown: Code { .unknown }
  
}
extension URLError.Code { public static func ~= (code: URLError.Code, error: any Error) -> Bool { fatalError() } }
public struct URLRequest: Hashable, Sendable {
  public enum CachePolicy: UInt, Sendable { case useProtocolCachePolicy, reloadIgnoringLocalCacheData }
  public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60) { fatalError() }
  public var url: URL? { get { fatalError() } set {} }
  public var httpMethod: String? { get { fatalError() } set {} }
  public var httpBody: Data? { get { fatalError() } set {} }
  public var httpBodyStream: InputStream? { get { fatalError() } set {} }
  public var timeoutInterval: TimeInterval { get { fatalError() } set {} }
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
  public func value(forHTTPHeaderField field: String) -> String? { fatalError() }
  public var allHTTPHeaderFields: [String: String]? { get { fatalError() } set {} }
}
@objcMembers open class URLResponse: NSObject, @unchecked Sendable {
  open var url: URL? { fatalError() }
  open var expectedContentLength: Int64 { fatalError() }
  open var mimeType: String? { fatalError() }
}
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) { fatalError() }
  open var statusCode: Int { fatalError() }
  open var allHeaderFields: [AnyHashable: Any] { fatalError() }
  open func value(forHTTPHeaderField field: String) -> String? { fatalError() }
}
open class URLCredential: NSObject, @unchecked Sendable {
  public enum Persistence: UInt, Sendable { case none, forSession, permanent, synchronizable }
  public init(user: String, password: String, persistence: Persistence) { fatalError() }
}
@objcMembers open class URLProtectionSpace: NSObject, @unchecked Sendable { open var authenticationMethod: String { fatalError() } }
@objcMembers open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
  open var protectionSpace: URLProtectionSpace { fatalError() }
  open var previousFailureCount: Int { fatalError() }
  open var proposedCredential: URLCredential? { fatalError() }
}
public let NSURLAuthenticationMethodHTTPBasic = ""
open class URLCache: NSObject, @unchecked Sendable {}
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
  open class var `default`: URLSessionConfiguration { fatalError() }
  open class var ephemeral: URLSessionConfiguration { fatalError() }
  open var timeoutIntervalForRequest: TimeInterval { get { fatalError() } set {} }
  open var timeoutIntervalForResource: TimeInterval { get { fatalError() } set {} }
  open var httpMaximumConnectionsPerHost: Int { get { fatalError() } set {} }
  open var requestCachePolicy: URLRequest.CachePolicy { get { fatalError() } set {} }
  open var httpAdditionalHeaders: [AnyHashable: Any]? { get { fatalError() } set {} }
  open var urlCache: URLCache? { get { fatalError() } set {} }
  open var identifier: String? { fatalError() }
}
@objcMembers open class URLSessionTask: NSObject, @unchecked Sendable {
  open var taskIdentifier: Int { fatalError() }
  open var originalRequest: URLRequest? { fatalError() }
  open var currentRequest: URLRequest? { fatalError() }
  open var response: URLResponse? { fatalError() }
  open var delegate: (any URLSessionTaskDelegate)? { get { fatalError() } set {} }
  open var progress: Progress { fatalError() }
  open var countOfBytesExpectedToReceive: Int64 { fatalError() }
  open var error: (any Error)? { fatalError() }
  open var state: Int { fatalError() }
  open func cancel() {}
  open func suspend() {}
  open func resume() {}
}
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
@objcMembers open class URLSession: NSObject, @unchecked Sendable {
  @objc public enum ResponseDisposition: Int, @unchecked Sendable { case cancel, allow, becomeDownload, becomeStream }
  @objc public enum AuthChallengeDisposition: Int, @unchecked Sendable {
    case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
  }
  open class var shared: URLSession { fatalError() }
  public init(configuration: URLSessionConfiguration) { fatalError() }
  public init(configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?) { fatalError() }
  open var delegateQueue: OperationQueue { fatalError() }
  open var delegate: (any URLSessionDelegate)? { fatalError() }
  open var configuration: URLSessionConfiguration { fatalError() }
  open func finishTasksAndInvalidate() {}
  open func invalidateAndCancel() {}
  open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
  @objc(dataTaskWithURL:) open func dataTask(with url: URL) -> URLSessionDataTask { fatalError() }
  open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
  open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask { fatalError() }
  open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
}
extension URLSession {
  public func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask { fatalError() }
}
@objc public protocol URLSessionDelegate: AnyObject, Sendable {}
@objc public protocol URLSessionTaskDelegate: URLSessionDelegate {
  @objc optional func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
  @objc optional func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64)
  @objc optional func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}
@objc public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  @objc optional func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
  @objc optional func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}
