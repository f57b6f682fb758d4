enum Help {
  static let version = "0.1.0"

  /// All options that the text contains.
  static var options: [String] {
    text.split { " ,[=\n'".contains($0) }.filter { $0.hasPrefix("--") && $0.count > 2 }.map(
      String.init)
  }

  static let text = """
    Runs a plan of shell steps as a graph: each step as soon as those it is after succeeded.

    Usage: runbook [options] [plan] [step or group…] [parameter=value…]

    The plan is runbook.json, here or in a directory above, or a path: a word that ends in .json or
    contains a slash; - is standard input. With steps or groups named, those and what they need are
    run. --demo is a plan on the source files of this package: it checksums, compresses, verifies and
    counts them into a temporary folder, and prints a report.

    What to do:
      -f, --file PLAN       the plan, whatever it is called
      -C, --directory DIR   go there first
          --demo            run the built-in plan
      -l, --list            print the names of the steps, and run nothing
      -n, --dry-run         print the steps that would run, in an order in which they can, and run nothing
          --check           read the plan, say what is wrong with it, and run nothing
          --graph           print the plan as a Mermaid flowchart, and run nothing
          --prune           remove files that steps have made which are not in the plan any more
          --version         print the version
      -h, --help            print this

    How:
      -j, --jobs N          run at most N steps at once (default: the number of processors)
          --memory SIZE     let steps use at most so much at once, by what they say (default: what the
                            machine has)
      -k, --keep-going[=N]  after a failure go on with the steps that do not need the failed one;
                            stop after N failures
          --timeout S       stop everything S seconds after the start of runbook
          --grace S         give what is stopped S seconds before it is killed (default: 3)
          --force           run steps that are up to date as well
          --wait            wait for the end of another run in the same directory, not longer than
                            the --timeout
          --executor NAME   hand the commands in as jobs of a cluster: slurm
          --queued N        have at most N jobs there at once, waiting or running (default: 100)
          --poll S          ask every S seconds what has become of them (default: 10)
          --launcher CMD    run each command by CMD, for example 'srun -n1 -c1 -J {name}'
          --launcher-cancel CMD
                            end what the launcher runs by CMD, not by a signal to the launcher; for
                            example 'scancel -s {signal} -n {name}'

    What to show:
      -v, --verbose         print commands as they run
          --color WHEN      always, never, or auto: on a terminal, or with CLICOLOR_FORCE set
      -q, --quiet           print only what failed, with its output; nothing of a success
          --explain         say of each step why it runs
      -g, --group-output    print the output of a step when it has ended, in one piece
          --logs DIR        write the output of each step into a file there
          --report FILE     write how each step went, as JSON
          --junit FILE      write it as build servers read it
          --summary         show what waited, for what, and how long
          --html FILE       write a page that shows when each step ran, and what it waited for
          --trace FILE      write the same for Perfetto and chrome://tracing

    A plan is a JSON object, in which comments and trailing commas are allowed:

      {"steps": [
        {"name": "fetch", "run": "curl -fsSO https://example.org/data.csv", "timeout": 60},
        {"name": "sort", "run": "sort data.csv > sorted", "after": ["fetch"], "group": "data"},
        {"name": "count", "run": "wc -l data.csv", "after": ["fetch"], "group": "data"},
        {"name": "report", "run": "cat sorted", "after": ["data"]}
      ]}

    Of the plan:
      steps        a list of objects, one for each step; needed
      defaults     directory, environment, dotenv, timeout, retries, retryDelay, cpu, memory, jobserver,
                   executor, executorOptions, launcher, launcherCancel of steps that do not say otherwise
      pools        an object: how many steps of each pool may run at the same time
      parameters   an object: variables of all steps, which a word like target=release sets
      include      other plans, whose steps, pools, parameters and secrets are there as well
      secrets      names of variables whose values are shown nowhere

    Of a step:
      name         unique; needed
      description  what --list says of it
      each         names with values: the step is there for each. A list of texts, or the pattern of
                   files, there or made by steps, with the {name} in it. {name} stands for the value in
                   names and files; in commands it is the variable $name
      run          a command for /bin/sh, or a list of lines, of which the first that fails ends it; needed
      after        names of the steps and groups that must have succeeded before
      always       true: it runs when what it is after has ended, however; also in a run that is stopped
      onFailure    true: it runs when something that it is after has failed
      group        the group it belongs to; groups exist by being named
      exclusive    a name, or names, of what it must have for itself: steps that share one never run
                   at the same time
      pool         a name, or names, of pools that it takes a place in
      cpu          how many processors it uses, of --jobs
      memory       how much memory it uses, of --memory: a text such as "2G", or a list of them, one for
                   each attempt
      jobserver    true: make and cargo in its command share the jobs of the run
      onlyIf       a command for /bin/sh; if it fails, the step is not needed. That there is no such
                   command (126, 127) is a failure
      unless       a command for /bin/sh; if it succeeds, the step is not needed
      inputs       files that it reads, and folders with all that is in them; * stands for any part of
                   a name, ** for any folders. They are "$@" in the command
      outputsOf    steps and groups whose outputs are inputs as well
      outputs      files that it makes, or has failed; if it has succeeded with this command and these
                   inputs, and they are as it left them, the step is up to date and not needed
      depfile      a file, written by the command as compilers do, that names what else it has read
      timeout      seconds it may run; what runs longer is stopped, and has failed
      retries      how often it is tried again after a failure; $RUNBOOK_ATTEMPT counts
      retryDelay   seconds before it is
      service      true: it runs until the steps that come after it have ended; these begin when it is
                   ready
      ready        of a service: a command that succeeds once it is ready
      readyLine    of a service: a text in its output that says so
      terminal     true: it has the terminal, while no other such step runs
      executor     slurm: its command is a job there, with its cpu and memory; local: it is not
      executorOptions  words for sbatch, such as "--partition=long"
      launcher     a command to run its command by
      launcherCancel  a command that ends what the launcher runs
      directory    where it runs, seen from the directory of the plan (default: there)
      environment  variables to set, an object of texts
      dotenv       a file of lines NAME=value, variables unless they are set already

    onlyIf and unless run when all that the step is after has succeeded, each as a job of its own and
    for at most the step's timeout, and before the step waits for what it must have for itself. Steps
    after one that is not needed go on, and the run succeeds.

    A step reads nothing on standard input, and cannot ask at the terminal unless it has it. It fails
    when its command ends with another status than 0, or without having made its outputs. The first
    failure stops all other steps, unless --keep-going. To stop a step is to send SIGTERM to its process
    group, and SIGKILL after the grace time. Processes that a step leaves in the background are stopped
    when it ends.

    A step with always or onFailure and without after is after all others that are no such steps.

    Ctrl-C stops everything but steps with always; a second Ctrl-C, or Ctrl-\\, kills at once.

    Exit status: 0 all steps succeeded; 1 a step failed, time was up, output was lost, or another run is
    at work here; 2 bad plan or usage; 130 interrupted (by SIGTERM 143, by SIGHUP 129, by Ctrl-\\ 131).
    """
}
