public import Foundation

/// Decodes a value from JSON.
///
/// ```swift
/// let decode = DecodeJSONProcedure([Release].self).injectPayload(fromNetwork: fetch)
/// ```
///
/// It fails with the decoder's `DecodingError` if the data is not such a value.
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

/// Encodes a value as JSON.
///
/// ```swift
/// let encode = EncodeJSONProcedure(order)
/// let send = NetworkUploadProcedure().injectPayload(from: encode, into: request)
/// ```
///
/// It fails with the encoder's `EncodingError` if the value cannot be encoded.
nonisolated open class EncodeJSONProcedure<Value: Encodable & Sendable>:
  TransformProcedure<Value, Data>, @unchecked Sendable
{
  /// Makes a procedure that encodes its input.
  ///
  /// - Parameters:
  ///   - value: its input; nil if you set or inject it later.
  ///   - name: its name in logs and errors.
  ///   - encoder: set it up before; it is used once, on the queue's worker.
  public init(
    _ value: Value? = nil, name: String? = nil, encoder: JSONEncoder = JSONEncoder()
  ) {
    super.init(name: name) { value in try encoder.encode(value) }
    if let value { input = value }
  }
}
