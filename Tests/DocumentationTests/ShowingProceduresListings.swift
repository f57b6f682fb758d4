import Foundation
import Observation
import ProcedureTestSupport
import ProceduresFoundation
import Testing

#if canImport(SwiftUI)
  import SwiftUI

  // listing: showing-view
  struct ExportView: View {
    @State private var export: ProcedureMonitor

    init(_ export: GroupProcedure) {
      _export = State(initialValue: ProcedureMonitor(export))
    }

    var body: some View {
      VStack {
        ProgressView(value: export.fractionCompleted)
        ForEach(export.children) { child in
          Text("\(child.name): \(child.state)")
        }
        switch export.outcome {
        case nil: Button("Stop") { export.procedure.cancel() }
        case .succeeded: Text("Done")
        case .failed(let errors): Text("Failed: \(errors.count) errors")
        case .cancelled: Text("Stopped")
        }
      }
    }
  }
  // end

  // listing: showing-queue
  struct DownloadsView: View {
    @Bindable var downloads: ProcedureQueueMonitor

    var body: some View {
      Toggle("Paused", isOn: $downloads.isSuspended)
      List(downloads.procedures) { download in
        ProgressView(download.name, value: download.fractionCompleted)
      }
      Text("\(downloads.finishedCount) finished, \(downloads.count) to go")
    }
  }
// end
#endif

// listing: showing-wait
@MainActor func wait(until isShown: @escaping @MainActor @Sendable () -> Bool) async {
  while true {
    let (changes, change) = AsyncStream.makeStream(of: Void.self)
    if withObservationTracking(isShown, onChange: { change.finish() }) { return }
    for await _ in changes {}
  }
}
// end

/// Stands for what has a progress of its own.
private final class Archive: Sendable {
  let progress = Progress(totalUnitCount: 1)

  func write() async { progress.completedUnitCount = 1 }
}

@Suite("Listings of the guide ShowingProcedures", .hangLimit)
struct ShowingProceduresListings {
  private let queue = ProcedureQueue()

  @Test("a monitored procedure can be awaited") @MainActor
  func waiting() async {
    let export = GroupProcedure(BlockProcedure {}, BlockProcedure {})
    // listing: showing-wait
    let monitor = ProcedureMonitor(export)
    queue.add(export)
    await wait { monitor.outcome != nil }
    // end
    #expect(monitor.outcome?.isSuccess == true)
  }

  @Test("progress is a tree")
  func tree() async {
    let (download, unpack) = (BlockProcedure {}, BlockProcedure {})
    // listing: showing-tree
    let whole = Progress(totalUnitCount: 10)
    whole.addChild(download.progress, withPendingUnitCount: 9)
    whole.addChild(unpack.progress, withPendingUnitCount: 1)
    // end
    queue.add(download, unpack)
    await queue.waitUntilAllFinished()
    #expect(whole.isFinished)
  }

  @Test("work counts its own units")
  func counting() async {
    let paths = ["a", "b"]
    let copied = Recorder<String>()
    @Sendable func copy(_ path: String) { copied.note(path) }
    // listing: showing-counting
    let files = BlockProcedure { procedure in
      procedure.progress.totalUnitCount = Int64(paths.count)
      for path in paths where !procedure.isCancelled {
        copy(path)
        procedure.progress.completedUnitCount += 1
      }
    }
    // end
    let progress = files.progress
    #expect(await queue.run(files).isSuccess)
    #expect(progress.isFinished && progress.totalUnitCount == 2 && copied.events == paths)
  }

  @Test("a procedure shows a foreign progress")
  func foreign() async {
    // listing: showing-foreign
    let saving = AsyncProcedure { procedure in
      let archive = Archive()
      procedure.report(archive.progress)  // its fraction, and a cancel of either
      await archive.write()
    }
    // end
    #expect(await queue.run(saving).isSuccess)
    #expect(saving.fractionCompleted == 1)
  }
}
