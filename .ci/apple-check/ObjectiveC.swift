// swift-format-ignore-file
// What the compiler itself looks for in Apple's module ObjectiveC when a class is Objective-C's.
@frozen public struct ObjCBool: ExpressibleByBooleanLiteral {
  var value: Int8
  public init(_ value: Bool) { self.value = value ? 1 : 0 }
  public init(booleanLiteral value: Bool) { self.init(value) }
  public var boolValue: Bool { value != 0 }
}
public func _convertBoolToObjCBool(_ x: Bool) -> ObjCBool { ObjCBool(x) }
public func _convertObjCBoolToBool(_ x: ObjCBool) -> Bool { x.boolValue }
@frozen public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral {
  public init(stringLiteral value: String) {}
}
