// swift-format-ignore-file
// What one test uses of XCTest.
open class XCTestCase { public init() {} }
public func XCTAssertTrue(_ value: @autoclosure () throws -> Bool, _ message: String = "") {}
public func XCTAssertEqual<T: Equatable>(_ a: @autoclosure () throws -> T, _ b: @autoclosure () throws -> T) {}
public func XCTAssertThrowsError<T>(_ body: @autoclosure () throws -> T, _ message: String = "", _ handler: (any Error) -> Void = { _ in }) {}
public func XCTFail(_ message: String = "") {}
