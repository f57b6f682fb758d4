// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Costs", platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Procedures", path: "../..")],
  targets: [
    .executableTarget(
      name: "Costs",
      dependencies: [
        .product(name: "Cancellation", package: "Procedures"),
        .product(name: "Procedures", package: "Procedures"),
        .product(name: "ProceduresFoundation", package: "Procedures"),
        .product(name: "ProceduresTimeline", package: "Procedures"),
      ])
  ],
  swiftLanguageModes: [.v6])
