/// Whose way of doing the work an entry is.
enum Contestant: String, Codable {
  case procedures = "Procedures"
  case dispatch = "Dispatch"
  case operations = "OperationQueue"
  case tasks = "Swift tasks"
  /// Something as simple as can be, written for the contest.
  case byHand = "by hand"
}
