// listing: results-inject
import Procedures
// end
import ProcedureTestSupport
import Testing

// listing: results-cause
struct Offline: Error {}

/// Stands for a request while there is no network.
nonisolated func load() throws -> String { throw Offline() }
// end

// listing: results-via
struct Page: Sendable {
  let text: String
  let language: String?
}
// end

// listing: results-subclass
final class LongestWord: Procedure, InputProcedure, OutputProcedure, @unchecked Sendable {
  typealias Input = String
  typealias Output = String

  struct NoWord: Error {}

  override func execute() {
    let words = (input ?? "").split(separator: " ")
    guard let longest = words.max(by: { $0.count < $1.count }) else {
      finish(withResult: .failure(NoWord()))
      return
    }
    finish(withResult: .success(String(longest)))
  }
}
// end

// listing: results-bind
final class LengthOfLongestWord: GroupProcedure, InputProcedure, OutputProcedure,
  @unchecked Sendable
{
  typealias Input = String
  typealias Output = Int

  init() {
    let longest = LongestWord()
    let length = TransformProcedure<String, Int> { $0.count }
    length.injectResult(from: longest)
    super.init(children: [longest, length])
    bind(to: longest)  // the input of the group is that of its first child
    bind(from: length)  // the output of its last child is that of the group
  }
}
// end

@Suite("Listings of the guide Results", .hangLimit)
struct ResultListings {
  private let queue = ProcedureQueue()
  private let output = Recorder<String>()

  @Test("a value goes from one procedure to the next")
  func injecting() async throws {
    let output = output
    func print(_ item: Any) { output.note("\(item)") }
    // listing: results-inject
    let queue = ProcedureQueue()
    let text = ResultProcedure { "to be or not to be" }
    let count = TransformProcedure<String, Int> { text in text.split(separator: " ").count }
    count.injectResult(from: text)
    queue.add(text, count)
    print(try await count.value)
    // end
    #expect(output.events == ["6"])
  }

  @Test("a closure converts the value on its way")
  func via() async throws {
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: results-via
    let article = ResultProcedure { Page(text: "to be", language: "en") }
    let word = LongestWord()
    word.injectResult(from: article) { page in page.text }

    let language = TransformProcedure<Page, String?> { page in page.language }
    language.injectResult(from: article)
    let name = LongestWord()
    name.injectResult(from: language)  // nil cancels `name`

    let upload = BlockProcedure(name: "nothing yet") { upload in print(upload.name) }
    upload.inject(dependency: article) { upload, article, errors in
      upload.name = errors.isEmpty ? "upload" : "upload what there is"
    }
    queue.add(article, word, language, name, upload)
    // end
    #expect(try await word.value == "to")
    #expect(await upload.waitUntilFinished() == .succeeded)
    #expect(output.events == ["upload"])
    await queue.waitUntilAllFinished()
  }

  @Test("a group has a value")
  func binding() async throws {
    let group = LengthOfLongestWord()
    group.input = "brevity is the soul"
    #expect(try await queue.value(of: group) == 7)
  }

  @Test("sequences are mapped, filtered and reduced")
  func sequences() async throws {
    let output = output
    func print(_ item: Any) { output.note("\(item)") }
    // listing: results-sequences
    let list = ResultProcedure { ["to", "be", "or", "not"] }
    let lengths = list.map { word in word.count }
    let long = list.filter { word in word.count > 2 }
    let total = lengths.reduce(0) { sum, length in sum + length }
    queue.add(list, lengths, long, total)
    print(try await long.value)
    print(try await total.value)
    // end
    #expect(output.events == ["[\"not\"]", "9"])
  }

  @Test("gather and batch make one value of many")
  func gathering() async throws {
    let output = output
    func print(_ item: Any) { output.note("\(item)") }
    // listing: results-gather
    let pages = (1...3).map { number in ResultProcedure { "page \(number)" } }
    let book = pages.gathered()
    queue.add(pages)
    queue.add(book)
    print(try await book.value)

    let longestWords = BatchProcedure { LongestWord() }
    longestWords.maxConcurrentChildCount = 2
    longestWords.input = ["to be", "or not"]
    print(try await queue.value(of: longestWords))
    // end
    #expect(output.events == ["[\"page 1\", \"page 2\", \"page 3\"]", "[\"to\", \"not\"]"])
  }

  @Test("R4: a race has the output of one mirror")
  func race() async throws {
    let output = output
    func print(_ item: Any) { output.note("\(item)") }
    // listing: results-race
    let mirrors = ["north", "south", "west"]
    let file = RaceProcedure(
      mirrors.map { mirror in
        ResultProcedure { "the file from \(mirror)" }.named(mirror).timeout(after: .seconds(30))
      })
    print(try await queue.value(of: file))
    // end
    #expect(output.events.count == 1 && output.events[0].hasPrefix("the file from "))
  }

  @Test("the error names its cause")
  func cause() async throws {
    let output = output
    func print(_ item: Any) { output.note("\(item)") }
    // listing: results-cause
    let page = ResultProcedure { try load() }
    let words = TransformProcedure<String, Int> { text in text.split(separator: " ").count }
    words.injectResult(from: page)
    queue.add(page, words)
    do {
      print(try await words.value)
    } catch let error as Offline {
      print("\(error) kept '\(page.name)' from having a value")
    }
    // end
    #expect(output.events == ["Offline() kept 'ResultProcedure<String>' from having a value"])
  }

  @Test("one procedure takes values from several sources")
  func several() async throws {
    let output = output
    func print(_ item: Any) { output.note("\(item)") }
    // listing: results-several
    let syllable = ResultProcedure { "ab" }
    let times = ResultProcedure { 3 }
    let repeated = TransformProcedure<(String, Int), String> { input in
      let (syllable, times) = input
      return String(repeating: syllable, count: times)
    }
    repeated.injectResult(from: syllable, times)
    queue.add(syllable, times, repeated)
    print(try await repeated.value)
    // end
    #expect(output.events == ["ababab"])
  }
}
