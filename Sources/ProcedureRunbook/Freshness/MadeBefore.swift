/// Files that steps of this plan have made in earlier runs, and that are unchanged since.
///
/// A pattern of the plan finds such a file only if a step still makes it: otherwise outputs of
/// removed steps would be processed for ever. A file that has changed since, or was there before
/// its step, belongs to the user, and counts.
struct MadeBefore {
  private var files: [FilePath: (journal: RunJournal, digest: Fingerprint?)] = [:]
  private var reader = FileReader()

  /// For a plan that has no journals.
  init() {}

  init(_ journals: RunJournals) {
    reader = journals.reader
    // The steps are not known yet; the journal knows the other directories with records.
    for journal in journals.all(of: []) {
      for made in journal.made(notIn: []) where journals.isOfThisPlan(made) {
        for file in journal.files(of: made) where file.wasEmpty {
          files[file.path] = (journal, file.digest)
        }
      }
    }
  }

  func contains(_ path: FilePath) -> Bool {
    guard let (journal, digest) = files[path.shortest] else { return false }
    // The step did not succeed, so the file is half made.
    guard let digest else { return true }
    let looks = FileLooks(journal, reader, isShared: false)
    guard let number = journal.numbers(of: [path]).first,
      case .seen(let now) = looks.look(at: number, limit: .max)
    else { return false }
    return now.digest == digest
  }
}
