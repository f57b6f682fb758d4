import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@testable import ProcedureBenchmarks

@Suite struct PlotTests {
  private let plot = Plot(panels: [
    Plot.Panel(
      name: "few & many",
      lines: [
        Plot.Line(
          name: "procedure", contestant: .procedures,
          points: [(size: 10, cost: 1), (size: 1_000, cost: 100)])
      ])
  ])

  @Test("the plot is well-formed, with a line, its dots and its name")
  func wellFormed() {
    let svg = plot.svg
    #expect(XMLParser(data: Data(svg.utf8)).parse())
    #expect(svg.contains("few &amp; many"))
    #expect(svg.contains(">procedure</text>"))
    #expect(svg.matches(of: /<circle/).count == 2)
  }

  @Test("a decade is as wide as any other, and the ends lie on the frame")
  func scale() {
    #expect(plot.svg.contains("points=\"70.0,352.0 500.0,52.0\""))
    #expect(plot.svg.contains(">100</text>"))
  }
}
