/// Finds the step of a plan that makes a file, by any path that leads to it.
struct FileMakers: Sendable {
  private struct Folder {
    /// The steps that make something directly in it.
    var makers: [Int] = []
    /// The folders in it that steps make files in.
    var folders: [FilePath] = []
  }

  private let realPaths = RealPaths()
  /// The makers by real paths, and by the paths that the plan says.
  private var makers: [FilePath: Int] = [:]
  /// The length of the shortest path in `makers`.
  private var shortest = Int.max
  private var folders: [FilePath: Folder] = [:]
  /// The length of the longest path in `folders`.
  private var longest = 0
  /// How many steps make something.
  private let count: Int

  /// Throws if two steps make one file: its contents would depend on which step ended last.
  init(_ steps: [Step]) throws(PlanError) {
    count = steps.count { !$0.outputs.isEmpty }
    makers.reserveCapacity(steps.count)
    for (index, step) in steps.enumerated() {
      for output in step.outputs {
        for path in names(of: step.path(of: output)) {
          if let other = makers[path] {
            guard other == index else {
              throw PlanError(.sameOutput(output, steps[other].name, step.name), in: step)
            }
          } else {
            makers[path] = index
            shortest = min(shortest, path.length)
            add(index, path)
          }
        }
      }
    }
  }

  /// The steps that make what is read at a path: the file itself, the file that a link leads to, and
  /// what links in a folder lead to.
  func steps(making path: FilePath) -> [Int] {
    let result = steps(makingItself: path)
    switch (try? FileStatus(path, followsLinks: false))?.kind {
    case .folder: return result + steps(behindLinksIn: path, besides: result)
    case .link:
      guard let target = realPaths.target(path) else { return result }
      let all = result + steps(at: target)
      return all + steps(behindLinksIn: target, besides: all)
    case .file, .other, nil: return result
    }
  }

  private func steps(behindLinksIn folder: FilePath, besides known: [Int]) -> [Int] {
    // Usually a folder is small, but it may be the root, and then it has every output.
    if Set(known).count == count { return [] }
    return realPaths.targets(ofLinksIn: folder).flatMap(steps(at:))
  }

  /// The steps that make a file, a folder above it, or, if it is a folder, something in it.
  func steps(makingItself path: FilePath) -> [Int] { names(of: path).flatMap(steps(at:)) }

  private func names(of path: FilePath) -> [FilePath] {
    let (real, shortest) = (realPaths.real(path), path.shortest)
    return real == shortest ? [real] : [real, shortest]
  }

  private func steps(at path: FilePath) -> [Int] {
    var result: [Int] = []
    var above: FilePath? = path
    // A path that is shorter than every output cannot be one.
    while let path = above, path.length >= shortest {
      if let maker = makers[path] {
        result.append(maker)
        break
      }
      above = path.folder
    }
    guard path.length <= longest, folders[path] != nil else { return result }
    var below = [path]
    while let path = below.popLast(), let folder = folders[path] {
      result += folder.makers
      below += folder.folders
    }
    return result
  }

  private mutating func add(_ step: Int, _ path: FilePath) {
    guard var folder = path.folder else { return }
    var isKnown = folders[folder]?.makers.append(step) != nil
    if !isKnown {
      folders[folder] = Folder(makers: [step])
      longest = max(longest, folder.length)
    }
    while !isKnown, let parent = folder.folder {
      isKnown = folders[parent] != nil
      folders[parent, default: Folder()].folders.append(folder)
      folder = parent
    }
  }
}
