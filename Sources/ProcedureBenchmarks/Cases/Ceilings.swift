extension Ceiling {
  /// The cost table: what is promised about the figures, all of them of one run.
  static let all: [Ceiling] =
    [
      Ceiling(
        "no-op procedure, against bare Dispatch",
        .ratioToBest(RowName("no-op, one by one", "procedure"), of: .dispatch), .times, 1),
      Ceiling(
        "link of a chain, against bare Dispatch",
        .ratioToBest(RowName("chain", "procedure after procedure"), of: .dispatch), .times, 1),
      Ceiling(
        "child of a group, against the no-op",
        .ratio(RowName("group", "child of a group"), to: RowName("group", "procedure")),
        .times, 1.2, aim: 1),
      Ceiling(
        "one DidFinish block observer, extra",
        .difference(
          RowName("observers", "procedure, 1 DidFinish observer"),
          RowName("observers", "procedure")),
        .nanoseconds, 120, aim: 60),
      Ceiling(
        "isCancelled of a token", .value(RowName("token, poll", "token.isCancelled")),
        .nanoseconds, 1, aim: 0.5),
      Ceiling(
        "isCancelled of a procedure", .value(RowName("token, poll", "procedure.isCancelled")),
        .nanoseconds, 1, aim: 0.5),
      Ceiling(
        "token, new + register + cancel",
        .value(RowName("token, new + register + cancel", "token")), .nanoseconds, 100, aim: 80),
      Ceiling(
        "token, register + unregister",
        .value(RowName("token, register + unregister", "token")), .nanoseconds, 75, aim: 50),
      Ceiling(
        "delay, create + schedule + cancel, 100,000 pending",
        .value(RowName("delays, 100,000 pending", "DelayProcedure")), .nanoseconds, 800, aim: 400),
      Ceiling(
        "deadline, create + schedule + cancel, 100,000 pending",
        .value(RowName("delays, 100,000 pending", "deadline of a token")),
        .nanoseconds, 800, aim: 400),
      Ceiling(
        "cancel of a pending procedure, against the no-op",
        .ratio(
          RowName("cancel, pending", "procedure, cancel of each"),
          to: RowName("cancel, pending", "procedure that runs, to compare")),
        .times, 1.5, aim: 1),
      Ceiling(
        "live bytes of a pending no-op procedure",
        .value(RowName("live bytes, pending work", "procedure")), .bytes, 320, aim: 200),
      Ceiling(
        "add to execute on an idle queue, p50, against bare Dispatch",
        .ratioToBest(RowName("idle latency", "procedure", figure: "p50"), of: .dispatch),
        .times, 1.2, aim: 1),
      growth("no-op", "scale, no-op", "procedure"),
      growth("link of a chain", "scale, chain", "procedure after procedure"),
    ]
    + Contest.growth.map { contest in
      let what = contest.name.split(separator: ", ", maxSplits: 1).last.map(String.init) ?? ""
      return growth(what, contest.name, "items")
    }

  /// An item at a million against ten thousand.
  private static func growth(_ what: String, _ contest: String, _ entry: String) -> Ceiling {
    Ceiling(
      "growth: \(what)",
      .ratio(
        RowName(contest, entry, size: 1_000_000), to: RowName(contest, entry, size: 10_000)),
      .times, 1.3, aim: 1.1)
  }
}
