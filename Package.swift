// swift-tools-version: 6.2
import PackageDescription

/// One set of settings for every target: strict memory safety and the upcoming features.
let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let package = Package(
  name: "Procedures",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Cancellation", targets: ["Cancellation"]),
    .library(name: "Procedures", targets: ["Procedures"]),
    .library(name: "ProceduresFoundation", targets: ["ProceduresFoundation"]),
    .library(name: "ProceduresTesting", targets: ["ProceduresTesting"]),
    .executable(name: "runbook", targets: ["Runbook"]),
    .executable(name: "benchmarks", targets: ["Benchmarks"]),
  ],
  targets: [
    .target(name: "Primitives", swiftSettings: settings),
    .target(name: "Cancellation", dependencies: ["Primitives"], swiftSettings: settings),
    .target(
      name: "Procedures", dependencies: ["Cancellation", "Primitives"], swiftSettings: settings),
    .target(
      name: "ProceduresFoundation", dependencies: ["Procedures", "Cancellation", "Primitives"],
      swiftSettings: settings),
    .target(
      name: "ProceduresTesting", dependencies: ["Procedures", "Cancellation", "Primitives"],
      swiftSettings: settings),
    .executableTarget(
      name: "Runbook", dependencies: ["Procedures", "ProceduresFoundation"],
      swiftSettings: settings),
    .executableTarget(
      name: "Benchmarks", dependencies: ["Procedures", "Cancellation"], swiftSettings: settings),
    .target(
      name: "TestSupport", dependencies: ["ProceduresTesting", "Procedures", "Primitives"],
      path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(
      name: "PrimitivesTests", dependencies: ["Primitives", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "CancellationTests", dependencies: ["Cancellation", "Primitives", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresTests", dependencies: ["Procedures", "Primitives", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresFoundationTests",
      dependencies: ["ProceduresFoundation", "Procedures", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresTestingTests",
      dependencies: ["ProceduresTesting", "Procedures", "Primitives", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "RunbookTests",
      dependencies: ["Runbook", "Procedures", "ProceduresFoundation", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "BenchmarksTests", dependencies: ["Benchmarks"], swiftSettings: settings),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "Runbook", "ProceduresTesting", "Procedures", "Cancellation", "Primitives", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ModelTests",
      dependencies: ["Procedures", "Cancellation", "Primitives", "TestSupport"],
      exclude: ["SeededBugs"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
