import Foundation
import Testing

@testable import ProcedureRunbook

@Suite("Lines of the journal")
struct JournalLineTests {
  private func lines(_ text: String) -> JournalLines { JournalLines(Array(text.utf8)) }

  @Test(
    "what a step succeeded with is read as it was written",
    arguments: ["1f 2 ", "1f 2 3", "1f 2-a 3", "1f 2? ", "ffffffffffffffff 0-0 d14deb5405fdab59"])
  func entries(marks: String) throws {
    let line = "succeeded\t\(marks.replacing(" ", with: "\t", maxReplacements: 1))\ta%20b\n"
    let record = try #require(lines(line).records["a b"])
    #expect(JournalLine.step("a b", record).text == line)
  }

  @Test(
    "a line that says nothing counts for nothing",
    arguments: [
      "succeeded\t1f\t2 \ta", "succeeded\t1f\t2 \ta\t\n", "succeeded\t1g\t2 \ta\n",
      "succeeded\t\t2 \ta\n", "succeeded\t1\t2-\ta\n", "succeeded\t1\t2-3-4\ta\n",
      "succeeded\t11111111111111111\t2 \ta\n", "succeeded\t1\ta\n", "other\t1\t2 \ta\n",
    ])
  func noEntry(text: String) { #expect(lines(text).records.isEmpty) }

  @Test(
    "what is in a file is read as it was written",
    arguments: ["1f.2.3.4 5", "-8000000000000000.0.-1.3b9ac9ff ffffffffffffffff"])
  func digests(entry: String) throws {
    let line = "file\t\(entry.replacing(" ", with: "\t"))\t/a%20b\n"
    let digest = try #require(lines(line).digests["/a b"])
    #expect(JournalLine.file("/a b", digest).text == line)
  }

  @Test(
    "a file of which a line says nothing is not known",
    arguments: ["1.2.3\t5", "1.2.3.4.5\t5", "1.2..4\t5", "1.2.3.g\t5", "1.2.3.4\t", "1.2.3.-\t5"])
  func noDigest(entry: String) { #expect(lines("file\t\(entry)\ta\n").digests.isEmpty) }

  @Test("a stamp is that of the file as long as it is not changed")
  func stamps() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "stamp-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(OutputFile.write("1", to: path) == nil)
    let stamp = try FileStatus(path).stamp
    #expect(try FileStatus(path).stamp == stamp)
    #expect(FileStamp(Array(stamp.text.utf8)[...]) == stamp)
    #expect(OutputFile.write("22", to: path) == nil)
    #expect(try FileStatus(path).stamp != stamp)
  }

  @Test("the last line of a step counts, and what begins anew is read with it")
  func last() {
    let lines = lines(
      "started\t\t\ta\n\nsucceeded\t1\t2 \ta\nsucceeded\t1\t2 \tb\nstarted\t\t\tb\n")
    #expect(lines.count == 4)
    #expect(lines.records["b"] == .started && lines.records["a"] != .started)
    #expect(JournalLines(Array(lines.text.utf8)).records == lines.records)
  }

  @Test("marks that may be out of date are equal to none that are found")
  func uncertain() {
    let marks = FileMarks(inputs: Fingerprint())
    #expect(FileMarks(inputs: Fingerprint(), isUncertain: true) != marks)
    #expect(FileMarks(inputs: Fingerprint(), dependencies: Fingerprint()) != marks)
  }
}
