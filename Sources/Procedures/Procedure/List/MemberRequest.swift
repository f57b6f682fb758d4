internal import ProcedureExclusion
internal import ProcedurePrimitives

/// The request of one procedure for the categories of its conditions, from its first request for
/// them until it has finished.
///
/// It owns the procedure and the list; the procedure drops it when it finishes.
///
/// Unchecked: the list's lock guards `inList`; `recording` is read behind the list's lock or the
/// table's, and one that begins late is stored behind both.
final class MemberRequest: ExclusionRequest, @unchecked Sendable {
  struct InList: Sendable {
    /// Its place among the members that have returned.
    var heapPlace: UInt32 = 0
    /// The age of the member, which has another number in its place: see `Buckets`.
    var memberAge: UInt32 = 0
  }

  let procedure: Procedure
  let list: ProcedureList
  @safe @exclusivity(unchecked) var inList = InList()
  /// For a recorded procedure. Not in one struct with what the list changes behind its lock only.
  @safe @exclusivity(unchecked) private(set) var recording: RequestRecording?

  init(
    _ limits: CategoryLimits, for procedure: Procedure, in list: ProcedureList,
    priority: ProcedurePriority = .normal, _ record: ProcedureRecord? = nil
  ) {
    self.procedure = procedure
    self.list = list
    recording = record.map(RequestRecording.init)
    super.init(limits, rank: priority.rank)
  }

  override var clock: any TimerService { list.context.clock.service }

  // MARK: Recording

  /// Records its wait, if the procedure is recorded.
  var record: ProcedureRecord? { recording?.record }

  /// Records its waits from now on. Called under the list's lock, or before others know it.
  func begin(_ record: ProcedureRecord) {
    let begun = RequestRecording(record)
    ExclusionTable.shared.withLock { _ in recording = begun }
  }

  /// It may outlive the procedure, and be released under a lock, where none of the user's errors
  /// may be released: so it gives up the record before. Called under the list's lock.
  func endRecord() {
    list.assertHeld()
    recording?.record = nil
  }

  /// The category that keeps it out, or was the last to do so: see `standing`. No lock of the table
  /// is held.
  var recordedStanding: (index: Int, count: Int) {
    ExclusionTable.shared.withLock { _ in standing }
  }
}

/// The part of a request that only recorded procedures have.
///
/// Unchecked: the list's lock guards `record`, the table's lock `admittedBy`.
final class RequestRecording: @unchecked Sendable {
  @safe @exclusivity(unchecked) fileprivate(set) var record: ProcedureRecord?
  /// The identity of the record, which stays when the procedure has finished.
  let id: RecordID
  /// The record of the procedure that made room for it, if it has one.
  @safe @exclusivity(unchecked) var admittedBy = RecordID.none

  init(_ record: ProcedureRecord) {
    self.record = record
    id = record.id
  }
}

extension ExclusionRequest {
  /// The request as the kernel's: only `ExclusionClaim` makes requests for the shared table.
  var asMember: MemberRequest { unsafe unsafeDowncast(self, to: MemberRequest.self) }
}

extension ProcedurePriority {
  /// The rank of a request: the most urgent has the smallest.
  var rank: UInt8 { Self.veryHigh.rawValue - rawValue }
}

/// The categories of one procedure, and its request for them. Guarded by its lock.
enum ExclusionClaim: Sendable {
  /// Nothing was requested yet.
  case limits(CategoryLimits)
  case request(MemberRequest)

  var request: MemberRequest? {
    guard case .request(let request) = self else { return nil }
    return request
  }

  /// The procedure's request, made when nothing else is missing.
  mutating func makeRequest(
    for procedure: Procedure, in list: ProcedureList, priority: ProcedurePriority,
    _ record: ProcedureRecord?
  ) -> MemberRequest {
    switch self {
    case .request(let request):
      if let record, request.record == nil { request.begin(record) }
      return request
    case .limits(let limits):
      let request = MemberRequest(limits, for: procedure, in: list, priority: priority, record)
      self = .request(request)
      return request
    }
  }

  /// A new request follows later. The caller releases the returned reference without a lock.
  mutating func takeRequest() -> MemberRequest? {
    guard case .request(let request) = self else { return nil }
    self = .limits(request.limits)
    return request
  }
}

extension ExclusionClaim? {
  /// Adds the limits of a condition.
  ///
  /// - Returns: a request that is incomplete now, and idle. Released as after `takeRequest()`.
  mutating func add(_ new: CategoryLimits) -> MemberRequest? {
    switch self {
    case nil:
      if !new.isEmpty { self = .limits(new) }
      return nil
    case .limits(var limits):
      // A second reference to the limits would make each one that is added a copy of all.
      self = nil
      limits.add(new)
      self = .limits(limits)
      return nil
    case .request(let request):
      var limits = request.takeLimits()
      limits.add(new)
      self = .limits(limits)
      return request
    }
  }
}
