/// Files that steps of this plan have made in earlier runs, and that are as these left them.
///
/// A pattern of the plan does not find them, unless a step makes them still: else what a step made that is gone would be
/// worked on for ever. What somebody has changed since is that one's own, and counts.
struct MadeBefore {
  private var files: [FilePath: (journal: RunJournal, digest: Fingerprint?)] = [:]
  private var reader = FileReader()

  /// Of a plan that no run remembers.
  init() {}

  init(_ journals: RunJournals) {
    reader = journals.reader
    // Its steps are not known yet, and those in other directories have had records there before.
    for journal in journals.all(of: []) {
      for made in journal.made(notIn: []) where journals.isOfThisPlan(made) {
        for file in journal.files(of: made) { files[file.path] = (journal, file.digest) }
      }
    }
  }

  func contains(_ path: FilePath) -> Bool {
    guard let (journal, digest) = files[path.shortest] else { return false }
    // Half made.
    guard let digest else { return true }
    let looks = FileLooks(journal, reader, isShared: false)
    guard let number = journal.numbers(of: [path]).first,
      case .seen(let now) = looks.look(at: number, limit: .max)
    else { return false }
    return now.digest == digest
  }
}
