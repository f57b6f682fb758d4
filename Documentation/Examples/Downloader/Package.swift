// swift-tools-version: 6.2
import PackageDescription

// The tutorial "A downloader in three steps": each step is one complete file.
//   swift run step1; swift test; swift run step3
let products: [Target.Dependency] = ["Procedures", "ProceduresTesting", "ProceduresTimeline"].map {
  .product(name: $0, package: "Procedures")
}

let package = Package(
  name: "Downloader",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Procedures", path: "../../..")],
  targets: [
    .executableTarget(name: "step1", dependencies: products),
    .testTarget(name: "step2", dependencies: products),
    .executableTarget(name: "step3", dependencies: products),
  ]
)
