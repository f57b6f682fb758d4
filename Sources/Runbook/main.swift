print("runbook")
