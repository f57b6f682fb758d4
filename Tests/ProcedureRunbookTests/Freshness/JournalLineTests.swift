import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("Lines of the journal", .hangLimit)
struct JournalLineTests {
  private let base = FilePath("/plan")

  private func lines(_ text: String) -> JournalLines {
    JournalLines(Array((JournalLine.head + text).utf8), in: base)
  }

  /// Two inputs and an output, in versions 0 to 2.
  private let files = "file\t0\t1f\t2\tin%20one\nfile\t1\t1f\t-\t/abs\nfile\t2\t3\t4\tout\n"

  private func record(_ lines: JournalLines) -> StepRecord.Success? {
    if case .succeeded(let success)? = lines.state.record(at: .outputs([FilePath("/plan/out")])) {
      success
    } else {
      nil
    }
  }

  @Test(
    "each line is read as it was written",
    arguments: [
      "run\t4711\tnode-3\n", "plan\t0\t/a%20b/plan.json\n", "file\t0\t1f\t2\tin\n",
      "file\t7\tffffffffffffffff\t-\t%ff%00x".replacing("%00", with: "%01") + "\n",
      "started\t0\tmake%20it\t1f\t-\n", "started\t0\ta\t1f\tthe%20input\tout\t/abs\n",
      "done\t0\tmake\t1\t2\t3\t0-5 9\t7 6\t-\n", "done\t0\tmake\t1\t2\t3\t\t7\t\n",
      "plan\t1\t/a%ff/plan.json\n", "beside\tlib\n", "beside\t/a%ff\n",
      "gone\tout\n", "empty\tout\n", "job\tk 7\tmarks\tout\n", "job\t\t\tout\n",
    ])
  func read(text: String) throws {
    let line = try #require(JournalLine(Array(text.utf8).dropLast()))
    #expect(line.text == text)
  }

  @Test(
    "a line without a meaning is ignored",
    arguments: [
      "done\t0\ta\t1\t2\t3\t0\t2", "done\t0\ta\t1\t2\t3\t0\t2\t-\t\n",
      "done\t0\ta\t1\t2\t3\t0\t2\n",
      "done\t0\ta\t1g\t2\t3\t0\t2\t-\n", "done\t0\ta\t1\t2\t3\t0-\t2\t-\n",
      "done\t0\ta\t1\t2\t3\t0  1\t2\t-\n", "done\t0\ta\t1\t2\t3\t0\t3\t-\n",
      "done\t0\ta\t1\t2\t3\t0\t2\t1-4\n", "other\t0\ta\t1\t2\t3\t0\t2\t-\n",
      "file\t3\t1\t2\t\n", "file\t3\t1\t2\tou%t\n", "started\t0\ta\t1\t-\tou\t\n",
    ])
  func noRecord(text: String) { #expect(record(lines(files + text)) == nil) }

  @Test("a success is known by its outputs, with versions of what it read")
  func success() throws {
    let lines = lines(files + "done\t0\tmake\t1\t2\t3\t0 1\t2\t-\n")
    let success = try #require(record(lines))
    #expect(success.step == "make" && Array(success.inputs) == [0, 1])
    #expect(success.dependencies == nil)
    let paths = success.inputs.compactMap { lines.state.version($0)?.file }
      .map { lines.state[file: $0].path.visible }
    #expect(paths == ["/plan/in one", "/abs"])
  }

  @Test("the last line of a step counts, and a record that another step has broken does not")
  func last() {
    let done = "done\t0\tmake\t1\t2\t3\t0\t2\t-\n"
    #expect(record(lines(files + done + "started\t0\tother\t1\t-\tout\n")) == nil)
    #expect(record(lines(files + "started\t0\tother\t1\t-\tout\n" + done)) != nil)
    #expect(record(lines(files + done + "gone\tout\n")) == nil)
    let two = "done\t0\tmake\t1\t2\t3\t0\t2 1\t-\n"
    let keys = RecordKeys.outputs([FilePath("/plan/out"), FilePath("/abs")])
    #expect(lines(files + two).state.record(at: keys) != nil)
    #expect(lines(files + two + done).state.record(at: keys) == nil)
  }

  @Test("a step without outputs is known by what ran last under its name")
  func names() {
    let success = "done\t0\ttest\t1\t1\t1\t\t\t-\n"
    func command(_ text: String) -> Fingerprint? {
      guard case .succeeded(let last)? = lines(files + text).state.record(at: .name("test")) else {
        return nil
      }
      return last.identity.command
    }
    let other = success.replacing("test\t1", with: "test\t2")
    #expect(command(success) == Fingerprint(Array("1".utf8)[...]))
    #expect(command(success + other) == Fingerprint(Array("2".utf8)[...]))
    #expect(command(success + other.replacing("test", with: "more")) == command(success))
    // It began with another command, or had an output.
    #expect(command(success + "started\t1\ttest\t2\t-\n") == nil)
    #expect(command(success + "started\t0\ttest\t2\t-\tout\n") == nil)
    #expect(command(success + "done\t0\ttest\t1\t1\t1\t\t2\t-\n") == nil)
  }

  @Test("a file of another form counts for nothing; the beginning of one is none")
  func foreign() {
    #expect(JournalLines(Array("started\t\t\ta\n".utf8), in: base).isForeign)
    #expect(!JournalLines([], in: base).isForeign)
    #expect(!JournalLines(Array(JournalLine.head.utf8.prefix(5)), in: base).isForeign)
    #expect(!lines("").isForeign)
  }

  @Test("a stamp matches its file until the file is changed")
  func stamps() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "stamp-\(UUID())").path
    let link = path + ".link"
    defer { for path in [path, link] { try? FileManager.default.removeItem(atPath: path) } }
    #expect(OutputFile.write("1", to: path) == nil)
    let stamp = try FileStatus(path).stamp
    #expect(try FileStatus(path).stamp == stamp)
    try FileManager.default.linkItem(atPath: path, toPath: link)
    #expect(try FileStatus(path).stamp.body == stamp.body)
    #expect(OutputFile.write("22", to: path) == nil)
    #expect(try FileStatus(path).stamp.body != stamp.body)
    #expect(try FileStatus(path).stamp.all != stamp.all)
  }

  @Test("numbers in a row are one run", arguments: ["", "0", "4-403 17 9", "1-2 2-3"])
  func versions(text: String) throws {
    let list = try #require(VersionList(Array(text.utf8)[...]))
    #expect(list.text == text && VersionList(Array(list)) == list || text == "1-2 2-3")
  }
}
