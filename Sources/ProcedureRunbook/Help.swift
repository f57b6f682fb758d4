/// What `runbook --help` prints.
enum Help {
  static let text = """
    Runs a plan of shell steps as a graph: each step as soon as those it is after succeeded.

    Usage: runbook [options] [plan.json]

    Without a plan it runs a built-in one on the source files of this package: checksums,
    compresses, verifies and counts them into a temporary folder, and prints a report.

    Options:
      -j, --jobs N       run at most N steps at once (default: the number of processors)
          --timeout S    stop everything after S seconds
          --grace S      give what is stopped S seconds before it is killed (default: 3)
      -k, --keep-going   after a failure go on with the steps that do not need the failed one
      -n, --dry-run      print the steps in an order in which they can run, and run nothing
          --graph        print the plan as a Mermaid flowchart, and run nothing
      -q, --quiet        print only the table at the end, and the output of failed steps
      -h, --help         print this

    A plan is a JSON object with one key, "steps": a list of objects, one for each step.

      {"steps": [
        {"name": "fetch", "run": "curl -fsSO https://example.org/data.csv", "timeout": 60},
        {"name": "sort", "run": "sort data.csv > sorted", "after": ["fetch"], "group": "data"},
        {"name": "count", "run": "wc -l data.csv", "after": ["fetch"], "group": "data"},
        {"name": "report", "run": "cat sorted", "after": ["data"]}
      ]}

      name         unique; needed
      run          a command for /bin/sh; needed
      after        names of the steps and groups that must have succeeded before
      group        the group it belongs to; groups exist by being named
      exclusive    a name, or names, of what it must have for itself: steps that share one never run
                   at the same time
      onlyIf       a command for /bin/sh; if it fails, the step is not needed
      unless       a command for /bin/sh; if it succeeds, the step is not needed
      timeout      seconds it may run; what runs longer is stopped, and has failed
      directory    where it runs, seen from the current directory (default: there)
      environment  variables to set, an object of texts

    onlyIf and unless run when all that the step is after has succeeded, each as a job of its own and
    for at most the step's timeout, and before the step waits for what it must have for itself. Steps
    after one that is not needed go on, and the run succeeds.

    A step reads nothing on standard input. It fails when its command ends with another status
    than 0. The first failure stops all other steps, unless --keep-going. To stop a step is to
    send SIGTERM to its process group, and SIGKILL after the grace time. Processes that a step leaves
    in the background are stopped when it ends.

    Ctrl-C stops everything; a second Ctrl-C kills at once.

    Exit status: 0 all steps succeeded; 1 a step failed or time was up; 2 bad plan or usage;
    130 interrupted (by SIGTERM 143, by SIGHUP 129).
    """
}
