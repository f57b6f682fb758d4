// swift-tools-version: 6.2
import PackageDescription

/// In CI a warning is an error. Not elsewhere: a later compiler may warn of more.
let warnings: [SwiftSetting] =
  Context.environment["WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// One set of settings for every target: strict memory safety and the upcoming features.
let settings: [SwiftSetting] =
  warnings + [
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
    .library(name: "ProceduresProcess", targets: ["ProceduresProcess"]),
    .library(name: "ProceduresFoundation", targets: ["ProceduresFoundation"]),
    .library(name: "ProceduresNetwork", targets: ["ProceduresNetwork"]),
    .library(name: "ProceduresTimeline", targets: ["ProceduresTimeline"]),
    .library(name: "ProceduresTesting", targets: ["ProceduresTesting"]),
    .library(name: "ProceduresFakes", targets: ["ProceduresFakes"]),
    .library(name: "ProcedureKitNames", targets: ["ProcedureKitNames"]),
    .executable(name: "runbook", targets: ["ProcedureRunbook"]),
    .executable(name: "benchmarks", targets: ["ProcedureBenchmarks"]),
  ],
  targets: [
    .target(name: "ProcedurePrimitives", swiftSettings: settings),
    .target(name: "Cancellation", dependencies: ["ProcedurePrimitives"], swiftSettings: settings),
    .target(
      name: "ProcedureExclusion", dependencies: ["ProcedurePrimitives"], swiftSettings: settings),
    .target(
      name: "Procedures",
      dependencies: ["Cancellation", "ProcedureExclusion", "ProcedurePrimitives"],
      swiftSettings: settings),
    .target(
      name: "ProceduresProcess", dependencies: ["Procedures", "ProcedurePrimitives"],
      swiftSettings: settings),
    .target(
      name: "ProceduresFoundation",
      dependencies: ["Procedures", "ProceduresProcess", "Cancellation", "ProcedurePrimitives"],
      swiftSettings: settings),
    .target(
      name: "ProceduresNetwork",
      dependencies: ["Procedures", "Cancellation", "ProcedurePrimitives"],
      swiftSettings: settings),
    .target(
      name: "ProceduresTimeline",
      dependencies: ["Procedures", "Cancellation", "ProcedurePrimitives"],
      swiftSettings: settings),
    .target(
      name: "ProceduresTesting",
      dependencies: ["ProceduresTimeline", "Procedures", "Cancellation", "ProcedurePrimitives"],
      swiftSettings: settings),
    .target(
      name: "ProceduresFakes",
      dependencies: [
        "ProceduresNetwork", "ProceduresProcess", "Procedures", "Cancellation",
        "ProcedurePrimitives",
      ],
      swiftSettings: settings),
    .target(
      name: "ProcedureKitNames", dependencies: ["Procedures", "ProcedurePrimitives"],
      swiftSettings: settings),
    .executableTarget(
      name: "ProcedureRunbook",
      dependencies: [
        "Procedures", "ProceduresProcess", "ProceduresTimeline", "ProcedurePrimitives",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ProcedureBenchmarks",
      dependencies: ["Procedures", "Cancellation", "ProcedurePrimitives"],
      swiftSettings: settings),
    .target(
      name: "ProcedureTestSupport",
      dependencies: ["ProceduresTesting", "Procedures", "Cancellation", "ProcedurePrimitives"],
      path: "Tests/ProcedureTestSupport", swiftSettings: settings),
    .testTarget(
      name: "ProcedurePrimitivesTests",
      dependencies: ["ProcedurePrimitives", "ProcedureTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "CancellationTests",
      dependencies: ["Cancellation", "ProcedurePrimitives", "ProcedureTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ProcedureExclusionTests",
      dependencies: ["ProcedureExclusion", "ProcedurePrimitives", "ProcedureTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresTests",
      dependencies: [
        "Procedures", "ProcedureExclusion", "ProcedurePrimitives", "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MisuseTests", dependencies: ["Procedures", "ProcedureTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresProcessTests",
      dependencies: ["ProceduresProcess", "Procedures", "ProcedureTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresFoundationTests",
      dependencies: [
        "ProceduresFoundation", "ProceduresTesting", "Procedures", "ProcedurePrimitives",
        "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresNetworkTests",
      dependencies: [
        "ProceduresNetwork", "ProceduresTesting", "Procedures", "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresTimelineTests",
      dependencies: [
        "ProceduresTimeline", "ProceduresTesting", "Procedures", "ProcedurePrimitives",
        "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresTestingTests",
      dependencies: [
        "ProceduresTesting", "Procedures", "ProcedurePrimitives", "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ProceduresFakesTests",
      dependencies: [
        "ProceduresFakes", "ProceduresNetwork", "ProceduresProcess", "ProceduresTesting",
        "Procedures", "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ProcedureKitNamesTests", dependencies: ["ProcedureKitNames", "ProcedureTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ProcedureRunbookTests",
      dependencies: [
        "ProcedureRunbook", "Procedures", "ProceduresProcess", "ProcedurePrimitives",
        "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ProcedureBenchmarksTests",
      dependencies: ["ProcedureBenchmarks", "ProcedurePrimitives", "ProcedureTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "ProcedureRunbook", "ProceduresFakes", "ProceduresFoundation", "ProceduresNetwork",
        "ProceduresProcess",
        "ProceduresTesting", "ProceduresTimeline", "Procedures", "Cancellation",
        "ProcedurePrimitives", "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StormTests",
      dependencies: [
        "ProceduresFoundation", "ProceduresTimeline", "Procedures", "Cancellation",
        "ProcedurePrimitives", "ProcedureTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ModelTests",
      dependencies: ["Procedures", "Cancellation", "ProcedurePrimitives", "ProcedureTestSupport"],
      exclude: ["SeededBugs"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// Only the libraries, if so asked: `.ci/release` compiles their tests in half of the time then.
if Context.environment["UNOPTIMISED_TESTS"] != nil {
  for target in package.targets where target.type == .test {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
  }
}
