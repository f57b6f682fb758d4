extension Ceiling {
  /// The cost table: what is promised about the figures, all of them of one run.
  static let all: [Ceiling] = [
    Ceiling(
      what: "no-op procedure, against bare Dispatch",
      quantity: .ratioToBest(RowName("no-op, one by one", "procedure"), of: .dispatch),
      unit: .times, ceiling: 1, aim: nil),
    Ceiling(
      what: "link of a chain, against bare Dispatch",
      quantity: .ratioToBest(RowName("chain", "procedure after procedure"), of: .dispatch),
      unit: .times, ceiling: 1, aim: nil),
    Ceiling(
      what: "child of a group, against the no-op",
      quantity: .ratio(RowName("group", "child of a group"), to: RowName("group", "procedure")),
      unit: .times, ceiling: 1.2, aim: 1),
    Ceiling(
      what: "one DidFinish block observer, extra",
      quantity: .difference(
        RowName("observers", "procedure, 1 DidFinish observer"), RowName("observers", "procedure")),
      unit: .nanoseconds, ceiling: 120, aim: 60),
  ]
}
