@_exported public import Procedures
#if canImport(FoundationNetworking)
  // URLRequest and URLSession, which a program on Apple's platforms has from Foundation.
  @_exported public import FoundationNetworking
#endif
