internal import Foundation
internal import ProcedurePrimitives
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A request on a session, with a further task for each redirect and each credential.
///
/// ```
///            ┌─────────── redirect, credential ──────────┐
/// between → queued → running → between → (the delegate is asked)      any of them → ended
/// ```
///
/// 1. The next task begins when the previous one has ended. Each has a complete request and body.
/// 2. On Linux a request that must not arrive twice has a connection of its own: it has a body, or
///    its method is not idempotent. Each request waits in line for a place among the connections to
///    its origin, and `timeoutInterval` counts from the moment at which it has one; earlier only
///    while sinks hold all of these connections back, since they may wait for this very request.
/// 3. A redirect response is held here, with its body, until the redirect is followed or declined.
/// 4. On Linux this type implements the time-outs. Foundation there ignores the total one, counts
///    in whole seconds, stops the program for a time-out of NaN, and counts the time for which a
///    connection is held back.
/// 5. `events.taskEnded` is called once, by the thread that sets `ended`.
/// 6. No method of a task is called from its events: on Linux they come on the sessions' own queue,
///    and such a method waits for that.
/// 7. A task is cancelled once, by the thread that sets the verdict. Its `cancel()` decides in one
///    block of the task's queue, and acts in another. If a second call comes in between, the task
///    may end and leave its session, and Foundation stops the program:
///
///      task's queue │ first: decided │ second: nothing       │ first acts: no task, stop
///      session's    │                │ the task ends, leaves │
final class SessionTransfer: CarriedTransfer, @unchecked Sendable {
  private struct Leg: @unchecked Sendable {
    let session: URLSession
    let task: URLSessionTask
    let place: ConnectionPlace
  }

  private enum Phase {
    case between
    /// The request waits for its place among the connections to its origin. The task was not
    /// resumed; one with a connection of its own is made when there is a place.
    case queued(ConnectionPlace, URLSessionTask?)
    case running(Leg)
    case ended
  }

  /// The meaning of the current task's end, if it was decided before.
  private enum Verdict {
    case failure(any Error)
    /// The received response is final: nothing can answer the server's challenge.
    case response
    case next(URLRequest)
  }

  private typealias Answer = (response: HTTPURLResponse, body: Data)

  private enum Step {
    case finish((any Error)?)
    case begin
    case redirect(Answer, Redirect)
  }

  private struct State: @unchecked Sendable {
    var phase = Phase.between
    var request: URLRequest
    var body: UploadBody?
    var verdict: Verdict?
    /// A redirect response, until its task has ended.
    var held: Answer?
    var hasResponse = false
    var redirectCount = 0
    var failedCredentials = 0
    var credential: (URLCredential, for: URLProtectionSpace)?
    var connection: HeldConnection?
    var lastSign = DispatchTimers.shared.now
    var end: ContinuousClock.Instant?
    var timer: SlabKey?
    /// Called with the first task before it begins.
    var firstTaskMade: (@Sendable (URLSessionTask) -> Void)?

    var hasEnded: Bool { if case .ended = phase { true } else { false } }
    var isQueued: Bool { if case .queued = phase { true } else { false } }
    /// The current task.
    var leg: Leg? { if case .running(let leg) = phase { leg } else { nil } }
  }

  private let events: any TaskEvents
  private let state: Locked<State>

  /// - Parameter firstTaskMade: called in `resume()` with the first task, before it begins; not
  ///   called if there is none.
  init(
    _ request: URLRequest, sending body: UploadBody?, for events: any TaskEvents,
    firstTaskMade: (@Sendable (URLSessionTask) -> Void)? = nil
  ) {
    self.events = events
    state = Locked(State(request: request, body: body, firstTaskMade: firstTaskMade))
  }

  func resume() {
    // A cancel may have ended it.
    if state.withLock({ $0.hasEnded }) { return }
    #if canImport(FoundationNetworking)
      let total = patience.total
      if total < .longest {
        state.withLock { $0.end = $0.lastSign.saturatingAdvanced(by: total) }
      }
      watch()
    #endif
    begin()
  }

  func cancel() {
    let (isFirst, leg) = state.withLock { state -> (Bool, Leg?) in
      switch state.verdict {
      case nil: state.verdict = .failure(URLError(.cancelled))
      case .next:
        state.verdict = .failure(URLError(.cancelled))
        return (false, nil)
      case .failure, .response: return (false, nil)
      }
      return (true, state.leg)
    }
    guard isFirst else { return }
    if let leg { leg.task.cancel() } else { finish(URLError(.cancelled)) }
  }

  /// Ends the current task with a verdict of this object.
  private func end(_ verdict: Verdict) {
    let (isFirst, leg) = state.withLock { state in
      guard state.verdict == nil else { return (false, nil as Leg?) }
      state.verdict = verdict
      return (true, state.leg)
    }
    guard isFirst else { return }
    WorkLine.shared(.default).submit { [self] in
      if let leg { return leg.task.cancel() }
      if case .failure(let error) = verdict { finish(error) }
    }
  }

  private func finish(
    _ error: (any Error)?, with last: URLResponse? = nil, of answer: Answer? = nil
  ) {
    let before = state.withLock { state -> (phase: Phase, timer: SlabKey?)? in
      if state.hasEnded { return nil }
      return (exchange(&state.phase, with: .ended), state.timer.take())
    }
    guard let before else { return }
    if let timer = before.timer { _ = DispatchTimers.shared.cancel(timer) }
    if case .queued(let place, let task) = before.phase {
      place.leave()
      // So that it leaves its session.
      task?.cancel()
    }
    if let (response, body) = answer {
      events.responseCame(response)
      if !body.isEmpty { events.dataCame(body) }
    }
    #if canImport(FoundationNetworking)
      if error == nil, (last as? HTTPURLResponse)?.statusCode != 401,
        let (credential, space) = state.withLock({ $0.credential })
      {
        events.userSession.configuration.urlCredentialStorage?.set(credential, for: space)
      }
    #endif
    events.taskEnded(error, with: last)
  }

  // MARK: Tasks

  /// Begins the next task when there is a connection for it. Must not be called on the session's
  /// own queue.
  private func begin() {
    let (request, body) = state.withLock { ($0.request, $0.body) }
    do {
      let checked = try request.checkedBody(body)
      state.withLock { $0.body = checked }
    } catch {
      return finish(error)
    }
    #if canImport(FoundationNetworking)
      let carrier = CarrierSession.carrying(for: events.userSession)
      let origin = request.url.flatMap(Origin.init)
      guard request.hasBody(body) || !request.isIdempotent else {
        return begin(
          in: carrier.session, carrier.delegate, carrier.sharedPlaces.makePlace(to: origin))
      }
      let place = carrier.ownPlaces.makePlace(to: origin)
      guard enqueue(nil, for: place) else { return }
      place.enter { [self] in beginAlone(at: place) }
    #else
      // The session's own delegate handles methods that this one does not implement, and the
      // session has its own line.
      begin(in: events.userSession, TransferDelegate(), Self.places.makePlace(to: nil))
    #endif
  }

  #if canImport(FoundationNetworking)
    /// Begins a task with a connection of its own.
    private func beginAlone(at place: ConnectionPlace) {
      let (request, body, hasEnded) = state.withLock { ($0.request, $0.body, $0.hasEnded) }
      if hasEnded { return }
      do {
        if body == nil { try request.openBodyStream() }
      } catch {
        return finish(error)
      }
      let (session, delegate) = CarrierSession.makeSession(like: events.userSession)
      let task = makeTask(in: session, delegate)
      if enqueue(task, for: place) { start(Leg(session: session, task: task, place: place)) }
      session.finishTasksAndInvalidate()
    }
  #else
    private static let places = ConnectionPlaces(limit: 1, sharesConnections: true)
  #endif

  /// Begins a task of this session when it is the turn of `place`. The task is made at once.
  private func begin(
    in session: URLSession, _ delegate: TransferDelegate, _ place: ConnectionPlace
  ) {
    let leg = Leg(session: session, task: makeTask(in: session, delegate), place: place)
    guard enqueue(leg.task, for: place) else { return }
    place.enter { [self] in start(leg) }
  }

  private func makeTask(
    in session: URLSession, _ delegate: TransferDelegate
  ) -> URLSessionTask {
    var (request, body) = state.withLock { ($0.request.asSent, $0.body) }
    #if canImport(FoundationNetworking)
      request.timeoutInterval = Patience.longestInterval
      if let stream = request.httpBodyStream { request.httpBodyStream = OpenedStream(stream) }
    #endif
    let task: URLSessionTask =
      switch body.take() {
      case nil: session.dataTask(with: request)
      case .data(let data): session.uploadTask(with: request, from: data)
      case .file(let url): session.uploadTask(with: request, fromFile: url)
      }
    #if !canImport(FoundationNetworking)
      task.delegate = delegate
    #endif
    delegate.follow(task, by: self)
    return task
  }

  /// False if the transfer has ended. Then the task is cancelled.
  private func enqueue(_ task: URLSessionTask?, for place: ConnectionPlace) -> Bool {
    let isQueued = state.withLock { state in
      if state.hasEnded { return false }
      state.phase = .queued(place, task)
      return true
    }
    guard let task else { return isQueued }
    state.withLock({ $0.firstTaskMade.take() })?(task)
    if !isQueued { task.cancel() }
    return isQueued
  }

  /// Starts the queued task, unless the transfer has ended, or a failure is about to end it.
  private func start(_ leg: Leg) {
    let begins = state.withLock { state in
      guard case .queued = state.phase else { return false }
      if case .failure = state.verdict { return false }
      (state.phase, state.hasResponse) = (.running(leg), false)
      state.lastSign = DispatchTimers.shared.now
      return true
    }
    if begins { leg.task.resume() }
  }

  // MARK: Events of a task, one at a time

  func responseCame(_ response: URLResponse) {
    #if canImport(FoundationNetworking)
      noteVersion()
    #endif
    let isHeld = state.withLock { state in
      state.lastSign = DispatchTimers.shared.now
      state.hasResponse = true
      state.held = nil
      guard let response = response as? HTTPURLResponse,
        Redirect(after: response, to: state.request) != nil
      else { return false }
      state.held = (response, Data())
      return true
    }
    if !isHeld { events.responseCame(response) }
  }

  #if canImport(FoundationNetworking)
    /// A connection by HTTP/2 has room for those that wait in line.
    private func noteVersion() {
      guard let leg = state.withLock({ $0.leg }), leg.place.isWanted,
        HeldConnection(of: leg.task)?.isMultiplexed == true
      else { return }
      leg.place.liftLimit()
    }
  #endif

  func dataCame(_ data: Data) {
    let isHeld = state.withLock { state in
      state.lastSign = DispatchTimers.shared.now
      state.held?.body.append(data)
      return state.held != nil
    }
    if !isHeld { events.dataCame(data) }
  }

  func bodyWasSent(_ count: Int64, of total: Int64) {
    state.withLock { $0.lastSign = DispatchTimers.shared.now }
    events.bodyWasSent(count, of: total)
  }

  func taskEnded(_ error: (any Error)?, with response: URLResponse?) {
    let (leg, step) = state.withLock { state -> (Leg?, Step) in
      guard case .running(let leg) = state.phase else { return (nil, .begin) }
      (state.phase, state.connection) = (.between, nil)
      return (leg, Self.step(after: error, with: response, in: &state))
    }
    guard let leg else { return }
    leg.place.leave()
    switch step {
    case .finish(let error): finish(error, with: response)
    case .begin: WorkLine.shared(.default).submit { self.begin() }
    case .redirect(let answer, let redirect):
      WorkLine.shared(.default).submit { self.ask(about: answer, redirect, of: leg.task) }
    }
  }

  private static func step(
    after error: (any Error)?, with response: URLResponse?, in state: inout State
  ) -> Step {
    switch state.verdict.take() {
    case .failure(let error): return .finish(error)
    case .response: return .finish(nil)
    case .next(let request):
      (state.request, state.held) = (request, nil)
      return .begin
    case nil: break
    }
    if let error { return .finish(SessionError.clarified(error)) }
    // Foundation on Linux does not report a redirect whose `Location` it cannot parse.
    if !state.hasResponse, let response = response as? HTTPURLResponse {
      state.held = (response, Data())
    }
    guard let answer = state.held.take(),
      let redirect = Redirect(after: answer.response, to: state.request)
    else { return .finish(nil) }
    state.redirectCount += 1
    guard state.redirectCount <= Redirect.limit else {
      return .finish(URLError(.httpTooManyRedirects))
    }
    return .redirect(answer, redirect)
  }

  // MARK: Redirects

  private func ask(about answer: Answer, _ redirect: Redirect, of task: URLSessionTask) {
    let isAnswered = Locked(false)
    let answered: @Sendable (URLRequest?) -> Void = { [self] request in
      let isFirst = isAnswered.withLock { isAnswered in
        defer { isAnswered = true }
        return !isAnswered
      }
      guard isFirst else { return }
      WorkLine.shared(.default).submit { [self] in
        guard let request else { return finish(nil, with: answer.response, of: answer) }
        state.withLock { state in
          let keepsBody = redirect.keepsBody && request.mayHaveBody
          (state.request, state.failedCredentials) = (request, 0)
          if !keepsBody { state.body = nil }
        }
        events.redirectFollowed(to: request)
        begin()
      }
    }
    let session = events.userSession
    guard let delegate = session.delegate as? any URLSessionTaskDelegate else {
      return answered(redirect.request)
    }
    session.delegateQueue.addOperation {
      #if canImport(FoundationNetworking)
        delegate.urlSession(
          session, task: task, willPerformHTTPRedirection: answer.response,
          newRequest: redirect.request, completionHandler: answered)
      #else
        let asked: Void? = delegate.urlSession?(
          session, task: task, willPerformHTTPRedirection: answer.response,
          newRequest: redirect.request, completionHandler: answered)
        if asked == nil { answered(redirect.request) }
      #endif
    }
  }

  // MARK: Holding back

  func hold() {
    let connection = state.withLock { state -> HeldConnection? in
      guard case .running(let leg) = state.phase else { return nil }
      if state.connection == nil {
        state.connection = HeldConnection(of: leg.task)
        if state.connection != nil { leg.place.note(heldBackAs: state.request.summary) }
      }
      return state.connection
    }
    connection?.hold()
  }

  /// Releases the connection on the queue on which `hold()` was called, so after each earlier call.
  func release() {
    #if canImport(FoundationNetworking)
      let leg = state.withLock { $0.leg }
      leg?.session.getAllTasks { _ in self.releaseConnection() }
    #else
      events.userSession.delegateQueue.addOperation { self.releaseConnection() }
    #endif
  }

  private func releaseConnection() {
    let connection = state.withLock { state in
      state.lastSign = DispatchTimers.shared.now
      state.leg?.place.note(heldBackAs: nil)
      return state.connection.take()
    }
    connection?.release()
  }
}

#if canImport(FoundationNetworking)
  // MARK: Time-outs

  extension SessionTransfer: TimerTarget {
    private var patience: Patience {
      Patience(of: state.withLock { $0.request }, in: events.userSession.configuration)
    }

    func timerFired() { WorkLine.shared(.default).submit { self.watch() } }

    /// Ends the transfer if its time is over; otherwise schedules the next check.
    private func watch() {
      let idle = patience.idle
      let now = DispatchTimers.shared.now
      let (isOver, block) = state.withLock { state -> (Bool, ConnectionPlaces.Block?) in
        if state.hasEnded { return (false, nil) }
        // No sign of life is expected while it is held back, or queued behind requests that go on.
        var block: ConnectionPlaces.Block?
        if case .queued(let place, _) = state.phase {
          block = place.block
          state.lastSign = max(state.lastSign, block?.since ?? now)
        } else if state.connection != nil {
          state.lastSign = now
        }
        let ends = [idle < .longest ? state.lastSign.saturatingAdvanced(by: idle) : nil, state.end]
        guard var end = ends.compactMap({ $0 }).min() else { return (false, nil) }
        if end <= now {
          if state.verdict == nil { return (true, block) }
          // Another task follows, whose time counts, too.
          end = now.advanced(by: .seconds(1))
        }
        state.timer = DispatchTimers.shared.schedule(self, at: end)
        return (false, nil)
      }
      guard isOver else { return }
      let request = state.withLock { $0.request }
      var userInfo: [String: Any] = [:]
      if let url = request.url { userInfo[NSURLErrorFailingURLErrorKey] = url }
      if let block { userInfo[NSLocalizedDescriptionKey] = block.sentence(about: request.summary) }
      end(.failure(URLError(.timedOut, userInfo: userInfo)))
    }
  }

  extension ConnectionPlaces.Block {
    fileprivate func sentence(about name: String) -> String {
      let others = names.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
      let more = names.count > 3 ? " and \(names.count - 3) more" : ""
      return
        "'\(name)' waits for one of \(count) connections, and the sinks of \(others)\(more) hold all of them back. If "
        + "these wait for it, give it a session of its own, or let fewer run at once."
    }
  }

  // MARK: Credentials

  extension SessionTransfer {
    /// Asks the delegate of the user's session for a credential, which a new task sends.
    ///
    /// Foundation's own answer sends the request on the used connection, without the body of a
    /// stream, and after a redirect to the first address. It stops the program if the method is not
    /// Basic, or on a cancel at the wrong moment.
    func challengeCame(_ challenge: URLAuthenticationChallenge, of task: URLSessionTask) {
      let failures = state.withLock { state in
        state.lastSign = DispatchTimers.shared.now
        return state.failedCredentials
      }
      let proposal = failures == 0 ? challenge.proposedCredential : nil
      let answered: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void = {
        [self] disposition, credential in
        switch (disposition, credential ?? proposal) {
        case (.cancelAuthenticationChallenge, _), (.rejectProtectionSpace, _):
          end(.failure(URLError(.cancelled)))
        case (.useCredential, let credential?), (.performDefaultHandling, let credential?):
          send(credential, for: challenge.protectionSpace)
        default: end(.response)
        }
      }
      let session = events.userSession
      guard let delegate = session.delegate as? any URLSessionTaskDelegate else {
        return answered(.performDefaultHandling, nil)
      }
      let question =
        failures == 0
        ? challenge
        : URLAuthenticationChallenge(
          protectionSpace: challenge.protectionSpace, proposedCredential: nil,
          previousFailureCount: failures, failureResponse: challenge.failureResponse,
          error: challenge.error, sender: challenge.sender!)
      session.delegateQueue.addOperation {
        delegate.urlSession(
          session, task: task, didReceive: question, completionHandler: answered)
      }
    }

    private func send(_ credential: URLCredential, for space: URLProtectionSpace) {
      var request = state.withLock { $0.request }
      guard space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic,
        !request.hasUsedStream
      else { return end(.response) }
      let words = Data("\(credential.user ?? ""):\(credential.password ?? "")".utf8)
      request.setValue(
        "Basic \(words.base64EncodedString())", forHTTPHeaderField: "Authorization")
      state.withLock { state in
        state.failedCredentials += 1
        state.credential = (credential, space)
      }
      end(.next(request))
    }
  }
#endif
