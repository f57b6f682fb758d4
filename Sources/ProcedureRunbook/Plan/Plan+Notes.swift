extension Plan {
  /// Notes of `--check` about a valid plan that may not do what its author expects.
  var notes: [String] {
    var (notes, seen): ([String], Set<String>) = ([], [])
    let eachNames = Set(steps.flatMap(\.eachNames))
    for step in steps {
      for note in step.notes(eachNames) {
        // The steps of an `each` have the same notes.
        let place =
          "\(step.file ?? "") \(step.line.map(String.init) ?? step.name.text) \(note.what)"
        guard seen.insert(place).inserted else { continue }
        let file = step.file.map { "\($0), " } ?? ""
        let line = step.line.map { "\(file)line \($0): " } ?? ""
        notes.append("\(line)\(note.what) of step '\(step.name.shortened)' \(note.problem)")
      }
    }
    return notes
  }
}

extension Step {
  fileprivate typealias Note = (what: String, problem: String)

  /// - Parameter eachNames: the names of all steps.
  fileprivate func notes(_ eachNames: Set<String>) -> [Note] {
    notesOnCommands(eachNames) + notesOnNames + notesOnOutputs
  }

  /// Notes on braces in commands, where they belong to the shell.
  private func notesOnCommands(_ eachNames: Set<String>) -> [Note] {
    let commands = [
      ("run", run), ("onlyIf", self.onlyIf ?? ""), ("unless", self.unless ?? ""),
      ("ready", self.ready ?? ""), ("launcher", self.launcher ?? ""),
    ]
    let inCommands = commands.flatMap { key, text in
      Braces.names(in: text).compactMap { name in
        hint(onBraces: name, eachNames).map { ("'{\(name)}' in '\(key)'", "stays as it is: \($0)") }
      }
    }
    guard !self.eachNames.isEmpty else { return inCommands }
    let others = self.environment.keys.filter { !self.eachNames.contains($0) }.sorted()
    return inCommands
      + others.flatMap { variable in
        Braces.names(in: self.environment[variable] ?? "").filter(self.eachNames.contains)
          .map { name in
            (
              "'{\(name)}' in the variable '\(variable)'",
              "stays as it is: use \"$\(name)\" in the command"
            )
          }
      }
  }

  /// Guesses the intention of a name in braces in a command; nil if it may be the command's own, as
  /// in `awk`.
  private func hint(onBraces name: String, _ eachNames: Set<String>) -> String? {
    if self.environment[name] != nil { return "write \"$\(name)\", a variable of the command" }
    if let nearest = Spelling.nearest(to: name, in: self.eachNames) {
      return "did you mean \"$\(nearest)\"?"
    }
    // Other tools use these names.
    switch name {
    case "in", "input", "inputs": return "the inputs are \"$@\""
    case "out", "output", "outputs": return "write the name of the output"
    default: return eachNames.contains(name) ? "'each' of this step has no such name" : nil
    }
  }

  private var notesOnNames: [Note] {
    // A value may contain braces.
    let brace = UInt8(ascii: "{")
    let hasBraces = self.eachNames.contains {
      self.environment[$0]?.utf8.contains(brace) ?? false
    }
    if hasBraces { return [] }
    let texts: [(key: String, texts: [String])] = [
      ("name", [name.text]), ("after", after.map(\.text)), ("group", [group?.text ?? ""]),
      ("inputs", inputs), ("outputs", outputs), ("outputsOf", self.outputsOf.map(\.text)),
      ("depfile", [self.depfile ?? ""]),
      ("directory", [self.directory ?? ""]), ("exclusive", self.exclusive),
      ("pool", self.pools),
    ]
    return texts.flatMap { key, texts in
      texts.flatMap(Braces.names).map { name in
        let nearest = Spelling.nearest(to: name, in: self.eachNames)
        let hint = Spelling.hint(nearest) ?? "'each' has no such name"
        return ("'{\(name)}' in '\(key)'", "stays as it is: \(hint)")
      }
    }
  }

  private var notesOnOutputs: [Note] {
    outputs.filter(FilePattern.isPattern).prefix(1).map { _ in
      (
        "the asterisk in 'outputs'",
        "stands for itself: name each file, or the folder that holds them"
      )
    }
  }
}
