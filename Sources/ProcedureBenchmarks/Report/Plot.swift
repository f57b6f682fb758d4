internal import Foundation

/// The cost of an item against the number of items, both logarithmic, a panel for each contest of
/// several sizes.
struct Plot {
  struct Line {
    let name: String
    let contestant: Contestant
    let points: [(size: Int, cost: Double)]
  }

  struct Panel {
    let name: String
    let lines: [Line]
  }

  let panels: [Panel]
}

extension Plot {
  init(_ results: [ContestResult]) {
    panels = results.filter(\.contest.isPlotted).map { result in
      let rows = result.rows
      var names: [String] = []
      for row in rows where !names.contains(row.name.entry) { names.append(row.name.entry) }
      return Panel(
        name: result.contest.name,
        lines: names.map { name in
          let rows = rows.filter { $0.name.entry == name }
          return Line(
            name: name, contestant: rows[0].contestant,
            points: rows.compactMap { row in
              row.name.size.map { (size: $0, cost: row.summary.median) }
            })
        })
    }
  }

  /// The picture, readable on light and dark pages: it brings its own paper.
  var svg: String {
    let width = panels.count * Layout.panelWidth
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(Layout.height)" \
      font-family="sans-serif" font-size="12">
      <title>Nanoseconds an item against the number of items</title>
      <rect width="\(width)" height="\(Layout.height)" fill="#ffffff"/>
      \(panels.enumerated().map(drawing).joined(separator: "\n"))
      </svg>

      """
  }

  private func drawing(_ index: Int, _ panel: Panel) -> String {
    let points = panel.lines.flatMap(\.points)
    let scale = Scale(
      sizes: decades(points.map { Double($0.size) }), costs: decades(points.map(\.cost)))
    let parts =
      scale.sizes.map { decade -> String in
        let x = scale.x(decade.power)
        return """
          <path d="M\(x) \(Layout.top)V\(Layout.bottom)" stroke="#e4e4e4"/>
          <text x="\(x)" y="\(Layout.bottom + 18)" text-anchor="middle">\
          \(Int(decade.power).grouped)</text>
          """
      }
      + scale.costs.map { decade -> String in
        let y = scale.y(decade.power)
        return """
          <path d="M\(Layout.left) \(y)H\(Layout.right)" stroke="#e4e4e4"/>
          <text x="\(Layout.left - 6)" y="\(y)" dy="4" text-anchor="end">\
          \(decade.power < 1 ? decade.power.short : Int(decade.power).grouped)</text>
          """
      }
      + panel.lines.enumerated().map { drawing($0, $1, scale) }
    return """
      <g transform="translate(\(index * Layout.panelWidth) 0)">
      <text x="\(Layout.left)" y="20" font-size="14" font-weight="bold">\(panel.name.escaped)</text>
      <text x="\(Layout.left)" y="38" fill="#666666">ns an item against the number of items</text>
      \(parts.joined(separator: "\n"))
      </g>
      """
  }

  private func drawing(_ index: Int, _ line: Line, _ scale: Scale) -> String {
    let color = line.contestant.color
    let places = line.points.map { (scale.x(Double($0.size)), scale.y($0.cost)) }
    let dots = places.map { "<circle cx=\"\($0)\" cy=\"\($1)\" r=\"3\" fill=\"\(color)\"/>" }
    let y = Layout.bottom + 44 + index * 18
    return """
      <polyline points="\(places.map { "\($0),\($1)" }.joined(separator: " "))" fill="none" \
      stroke="\(color)" stroke-width="2"/>
      \(dots.joined())
      <path d="M\(Layout.left) \(y - 4)h20" stroke="\(color)" stroke-width="2"/>
      <text x="\(Layout.left + 28)" y="\(y)">\(line.name.escaped)</text>
      """
  }

  /// The powers of ten that enclose the values.
  private func decades(_ values: [Double]) -> [Decade] {
    guard let least = values.min(), let most = values.max(), least > 0 else { return [] }
    var decade = Decade(exponent: 0, power: 1)
    while decade.power > least { decade = decade.previous }
    while decade.next.power <= least { decade = decade.next }
    var decades = [decade]
    repeat {
      decade = decade.next
      decades.append(decade)
    } while decade.power < most
    return decades
  }
}

private struct Decade {
  let exponent: Int
  let power: Double

  var next: Decade { Decade(exponent: exponent + 1, power: power * 10) }
  var previous: Decade { Decade(exponent: exponent - 1, power: power / 10) }
}

private enum Layout {
  static let panelWidth = 520
  static let (left, right, top, bottom, height) = (70, 500, 52, 352, 480)
}

/// From values to places in the picture, as whole tenths, so that the text of it stays short.
private struct Scale {
  let sizes: [Decade]
  let costs: [Decade]

  func x(_ value: Double) -> Double {
    place(value, sizes, from: Double(Layout.left), to: Double(Layout.right))
  }

  func y(_ value: Double) -> Double {
    place(value, costs, from: Double(Layout.bottom), to: Double(Layout.top))
  }

  private func place(_ value: Double, _ decades: [Decade], from: Double, to: Double) -> Double {
    guard let first = decades.first, let last = decades.last else { return from }
    let part =
      (log10(value) - Double(first.exponent)) / Double(last.exponent - first.exponent)
    return ((from + (to - from) * part) * 10).rounded() / 10
  }
}

extension Contestant {
  /// Told apart by people who do not see red and green as different, too.
  fileprivate var color: String {
    switch self {
    case .procedures: "#d55e00"
    case .dispatch: "#0072b2"
    case .operations: "#009e73"
    case .tasks: "#cc79a7"
    case .byHand: "#666666"
    }
  }
}

extension String {
  fileprivate var escaped: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
