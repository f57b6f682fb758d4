import Foundation
import Procedures

private let graph = Graph.random(nodes: 20_000)

extension Graph {
  /// Of those nodes only that are among the first ones.
  fileprivate func first(_ count: Int) -> Graph {
    Graph(dependencies: Array(dependencies.prefix(count)))
  }
}

extension Contest {
  /// 20,000 nodes, 40,000 edges drawn at random.
  static let randomGraph = Contest(
    name: "random graph", count: 20_000,
    entries: [
      Entry("procedure") { count in
        var procedures: [Procedure] = []
        for dependencies in graph.first(count).dependencies {
          let procedure = NoOperation()
          for dependency in dependencies { procedure.add(dependency: procedures[dependency]) }
          procedures.append(procedure)
        }
        await OwnQueue.run(procedures)
      },
      Entry("DispatchQueue.async, counters by hand", .dispatch) { count in
        await BareDispatch.run(graph.first(count)) { Tally.note() }
      },
      Entry("task that awaits others", .tasks) { count in
        var tasks: [Task<Void, Never>] = []
        for dependencies in graph.first(count).dependencies {
          let awaited = dependencies.map { tasks[$0] }
          tasks.append(
            Task.detached {
              for task in awaited { await task.value }
              Tally.note()
            })
        }
        for task in tasks { await task.value }
      },
      Entry("operation", .operations, share: 10) { count in
        var operations: [Operation] = []
        for dependencies in graph.first(count).dependencies {
          let operation = BlockOperation { Tally.note() }
          for dependency in dependencies { operation.addDependency(operations[dependency]) }
          operations.append(operation)
        }
        await Operations.run(operations)
      },
    ])
}
