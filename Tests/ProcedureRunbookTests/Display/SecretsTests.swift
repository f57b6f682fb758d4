import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("Secrets in output", .hangLimit)
struct SecretsTests {
  private func filtered(_ pieces: [String], _ secrets: [String]) -> String {
    var filter = SecretFilter(Secrets(values: secrets.map { Array($0.utf8) }))
    let bytes = pieces.flatMap { filter.take($0.utf8) } + filter.end()
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("each secret is hidden, wherever the pieces of the output end")
  func pieces() {
    let text = "a secret, secretsecret, secre secret-longer secrets!"
    let expected = "a ***, ******, secre *** ***s!"
    let secrets = ["secret", "secret-longer"]
    #expect(filtered([text], secrets) == expected)
    #expect(filtered(text.map(String.init), secrets) == expected)
    for end in 0...text.count {
      let pieces = [String(text.prefix(end)), String(text.dropFirst(end))]
      #expect(filtered(pieces, secrets) == expected, "\(end)")
    }
  }

  @Test("text that only begins like a secret is shown, at the end too")
  func beginnings() {
    #expect(filtered(["abab", "abac", "aba"], ["abac"]) == "abab***aba")
    #expect(filtered(["aaab"], ["aab"]) == "a***")
    #expect(filtered(["nothing"], []) == "nothing")
  }

  @Test("secrets that overlap are hidden together, wherever the pieces of the output end")
  func overlaps() {
    let secrets = ["abcdabcX", "bcdabcd", "abab"]
    for (text, expected) in [
      ("abcdabcdabcX", "a***"), ("-abcdabcdabcX-", "-a***-"), ("bcdabcdabcd", "***"),
      ("abcdabcdabcdabcX", "a***"), ("abababa", "***a"), ("abababab", "***"),
      ("abcdabcXabcdabcX", "******"), ("abcdabc", "abcdabc"),
    ] {
      #expect(filtered([text], secrets) == expected)
      #expect(filtered(text.map(String.init), secrets) == expected)
    }
  }

  @Test(
    "a value is hidden without its line end too, and each long line, with any line end",
    arguments: ["\n", "\r\n", "\r"])
  func lineEnds(end: String) throws {
    func shown(_ text: String, of value: String) throws -> String {
      var step = Step(name: "a", run: "x")
      step.environment = ["KEY": value]
      return try Secrets(of: Plan(steps: [step], secrets: ["KEY"])).hiding(text)
    }
    let long = "firstsecretline\(end)secondsecretline\(end)"
    #expect(try shown(long, of: long) == "***\(end)")
    #expect(
      try shown("secondsecretline, firstsecretline\n", of: long) == "***, ***\n")
    #expect(try shown("short\n\(end)short", of: "\(end)short\(end)") == "***\n\(end)***")
    #expect(throws: PlanError.self) { try shown("", of: "abc\(end)") }
  }

  @Test("secrets come from the steps and from this process; each line of a long one is a secret")
  func values() throws {
    var step = Step(name: "a", run: "x")
    step.environment = ["KEY": "-----\nABCDEFGH\nxyz", "NONE": ""]
    let secrets = try Secrets(
      of: Plan(steps: [step], secrets: ["KEY", "NONE", "NOT_SET_ANYWHERE"]))
    var filter = SecretFilter(secrets)
    let shown = filter.take("-----\nABCDEFGH\nxyz ABCDEFGH xyz".utf8) + filter.end()
    #expect(String(decoding: shown, as: UTF8.self) == "*** *** xyz")
    step.environment = ["KEY": "abc"]
    let short = try Plan(steps: [step], secrets: ["KEY"])
    let error = #expect(throws: PlanError.self) { try Secrets(of: short) }
    #expect(error?.description.hasPrefix("the secret 'KEY' is shorter than 4 characters") == true)
  }
}
