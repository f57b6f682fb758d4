@_exported public import Procedures
#if canImport(FoundationNetworking)
  // URLRequest and URLSession, which Foundation contains on Apple's platforms.
  @_exported public import FoundationNetworking
#endif
