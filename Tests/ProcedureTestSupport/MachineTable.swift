internal import Foundation

/// The table above the declaration of a state machine: what each event does in each state.
///
/// Tests ask the machine for each cell, so that the table cannot say what the machine does not do.
/// Marks of footnotes are left out.
package struct MachineTable: Sendable {
  package struct Row: Sendable, CustomStringConvertible {
    package let event: String
    /// What the event does, by state.
    package let cells: [(state: String, outcome: String)]

    package var description: String { event }
  }

  package let rows: [Row]

  /// - Parameters:
  ///   - type: the type above whose declaration the table stands.
  ///   - path: of its file, from the root of the package.
  package init(of type: String, at path: String) throws {
    let text = try String(contentsOf: .packageRoot.appending(path: path), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let declaration = lines.firstIndex { line in
      ["struct", "enum", "class"].contains { kind in
        line.contains("\(kind) \(type):") || line.contains("\(kind) \(type) {")
      }
    }
    let comment = lines.prefix(declaration ?? 0).reversed().prefix { $0.hasPrefix("///") }
      .reversed()
    let table = comment.drop { !$0.hasPrefix("/// |") }.prefix { $0.hasPrefix("/// |") }
      .map(Self.cells)
    guard let states = table.first?.dropFirst() else {
      throw TestError("no table above \(type) in \(path)")
    }
    // The second line only draws.
    rows = table.dropFirst(2).map { Row(event: $0[0], cells: Array(zip(states, $0.dropFirst()))) }
  }

  /// The cells that say that the event traps.
  package var traps: [(event: String, state: String)] {
    rows.flatMap { row in
      row.cells.filter { $0.outcome == "✕" }.map { (row.event, $0.state) }
    }
  }

  /// Has each event happen in each state in which it does not trap.
  ///
  /// - Parameters:
  ///   - states: all of them, in the order of the columns.
  ///   - name: what a state is called in the table.
  /// - Returns: the cells that say something else than what happened.
  package func differences<State>(
    _ states: [State], named name: (State) -> String = { "\($0)" },
    happen: (_ event: String, inout State) -> Void
  ) -> [String] {
    rows.flatMap { row in
      zip(row.cells, states).compactMap { cell, start -> String? in
        var outcome = cell.outcome
        if outcome != "✕" {
          var state = start
          happen(row.event, &state)
          outcome = name(state) == name(start) ? "–" : "→ \(name(state))"
        }
        if cell == (name(start), outcome) { return nil }
        return "\(row.event) in \(name(start)): \(outcome)"
      } + (row.cells.count == states.count ? [] : ["\(row.event): \(row.cells.count) cells"])
    }
  }

  private static func cells(_ line: Substring) -> [String] {
    line.dropFirst("/// |".count).split(separator: "|").map { cell in
      String(cell.filter { !"¹²³⁴⁵⁶".contains($0) }).trimmingCharacters(in: .whitespaces)
    }
  }
}
