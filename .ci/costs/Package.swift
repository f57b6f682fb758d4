// swift-tools-version: 6.2
import PackageDescription

// Programs in optimised code: what each kind of work costs is counted in one, what a program links is looked at in the
// others.
func program(_ name: String, using products: String...) -> Target {
  .executableTarget(
    name: name, dependencies: products.map { .product(name: $0, package: "Procedures") })
}

let package = Package(
  name: "Costs",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Procedures", path: "../..")],
  targets: [
    program(
      "Costs", using: "Cancellation", "Procedures", "ProceduresFoundation", "ProceduresTimeline"),
    program("CoreOnly", using: "Procedures"),
    program("ProgramsOnly", using: "ProceduresFoundation"),
    program("Network", using: "ProceduresNetwork"),
  ],
  swiftLanguageModes: [.v6]
)
