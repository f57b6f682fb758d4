public import Foundation

/// Makes a value of JSON.
///
/// ```swift
/// let decode = DecodeJSONProcedure([Release].self).injectPayload(fromNetwork: fetch)
/// ```
///
/// Data that is no such value fails it, with the decoder's `DecodingError`.
nonisolated open class DecodeJSONProcedure<Value: Decodable & Sendable>:
  TransformProcedure<Data, Value>, @unchecked Sendable
{
  /// Makes a procedure that decodes its input.
  ///
  /// - Parameters:
  ///   - type: the type of its output; leave it out where the compiler knows it.
  ///   - name: its name in logs and errors.
  ///   - decoder: set it up before; it is used once, on the queue's worker.
  public init(
    _ type: Value.Type = Value.self, name: String? = nil, decoder: JSONDecoder = JSONDecoder()
  ) {
    super.init(name: name) { data in try decoder.decode(Value.self, from: data) }
  }
}

/// Makes JSON of a value.
///
/// ```swift
/// let encode = EncodeJSONProcedure(order)
/// let send = NetworkUploadProcedure().injectPayload(from: encode, into: request)
/// ```
///
/// A value that cannot be JSON fails it, with the encoder's `EncodingError`.
nonisolated open class EncodeJSONProcedure<Value: Encodable & Sendable>:
  TransformProcedure<Value, Data>, @unchecked Sendable
{
  /// Makes a procedure that encodes its input.
  ///
  /// - Parameters:
  ///   - value: its input; nil if that is set, or injected, later.
  ///   - name: its name in logs and errors.
  ///   - encoder: set it up before; it is used once, on the queue's worker.
  public init(
    _ value: Value? = nil, name: String? = nil, encoder: JSONEncoder = JSONEncoder()
  ) {
    super.init(name: name) { value in try encoder.encode(value) }
    if let value { input = value }
  }
}
