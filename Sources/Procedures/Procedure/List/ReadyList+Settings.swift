internal import ProcedurePrimitives

/// Settings of a list as a whole.
extension ReadyList {
  var limit: Int {
    get { locked { $0.machine.limit } }
    set {
      update { storage in
        storage.machine.limit = newValue
        return nil
      }
    }
  }

  var isSuspended: Bool {
    get { locked { $0.machine.isSuspended } }
    set {
      guard newValue else { return resume() }
      update { storage in
        storage.machine.isSuspended = true
        return storage.machine.revokeGrants().flatMap { request in
          ExclusionTable.shared.withLock { $0.decline(request) }
        }
      }
    }
  }

  private func resume() {
    // Those that have arrived need not be members for it.
    let aftermath = storage.withLock { storage in
      storage.machine.isSuspended = false
      receiveArrivals(&storage)
      return self.aftermath(of: &storage)
    }
    aftermath.carryOut()
  }
}
