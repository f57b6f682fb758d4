// swift-tools-version: 6.2
import PackageDescription

// A program that uses only `Procedures`, to look at what it links.
let package = Package(
  name: "CoreOnly",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Procedures", path: "../..")],
  targets: [
    .executableTarget(
      name: "CoreOnly", dependencies: [.product(name: "Procedures", package: "Procedures")])
  ]
)
