// swift-tools-version: 6.2
import PackageDescription

// A client of this package whose targets have names that a client's own may have, and whose programs are
// the first listing of the README, as a newcomer writes it: at the top level of `main.swift`. The sources
// of those three are written by `.ci/client-packages`.
let products: [Target.Dependency] = [
  "Cancellation", "ProcedureKitNames", "Procedures", "ProceduresFakes", "ProceduresFoundation",
  "ProceduresNetwork",
  "ProceduresProcess", "ProceduresTesting", "ProceduresTimeline",
].map {
  .product(name: $0, package: "Procedures")
}

let package = Package(
  name: "Clients",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Procedures", path: "../..")],
  targets: [
    .target(name: "Primitives", dependencies: products),
    .target(name: "Benchmarks", dependencies: products),
    .target(
      name: "TestSupport",
      dependencies: [.product(name: "ProceduresTesting", package: "Procedures")]),
    .executableTarget(
      name: "Runbook", dependencies: products + ["Primitives", "Benchmarks", "TestSupport"]),
    .executableTarget(name: "BlockedMain", dependencies: products),
    .executableTarget(
      name: "Subclasses",
      dependencies: products,
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "FirstInSwift5", dependencies: products,
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "FirstInSwift6", dependencies: products,
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "FirstOnMainActor", dependencies: products,
      swiftSettings: [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self)]),
  ]
)
