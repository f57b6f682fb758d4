// swift-tools-version: 6.2
import PackageDescription

// Programs that use only `Procedures`, only what runs programs, and the network, to look at what they link.
func program(_ name: String, using product: String) -> Target {
  .executableTarget(
    name: name, dependencies: [.product(name: product, package: "Procedures")])
}

let package = Package(
  name: "CoreOnly",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Procedures", path: "../..")],
  targets: [
    program("CoreOnly", using: "Procedures"),
    program("ProgramsOnly", using: "ProceduresFoundation"),
    program("Network", using: "ProceduresNetwork"),
  ]
)
