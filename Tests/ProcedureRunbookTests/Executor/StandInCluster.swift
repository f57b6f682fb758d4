/// A stand-in for Slurm, as shell scripts in the folder `bin`: what `sbatch`, `squeue`, `sacct` and
/// `scancel` say, and jobs that run on.
///
/// A job is a folder in `cluster`, with its state, comment and, while it runs, its process group.
/// As long as there is a file `cluster/full`, jobs wait in the line, for the reason in it; with
/// `cluster/closed` they stay there, and no process of theirs waits. `accounts` is what `sacct`
/// knows; without it there is no accounting. `calls` has a line for each command, that of `squeue`
/// with the variable `TURN`.
enum StandInCluster {
  static let script = """
    mkdir -p bin cluster; PATH=$PWD/bin:$PATH; CLUSTER=$PWD/cluster; export PATH CLUSTER
    cat > bin/sbatch <<'END'
    #!/bin/sh
    echo "sbatch $*" >> $CLUSTER/calls
    test -e $CLUSTER/refuse && { echo "sbatch: error: $(cat $CLUSTER/refuse)" >&2; exit 1; }
    until mkdir $CLUSTER/lock 2> /dev/null; do sleep 0.01; done
    id=$(( $(cat $CLUSTER/last 2> /dev/null || echo 100) + 1 )); echo $id > $CLUSTER/last
    rmdir $CLUSTER/lock
    job=$CLUSTER/$id; mkdir $job; cat > $job/script
    for word; do case $word in
      --comment=*) echo "${word#*=}" > $job/comment;;
      --output=*) output=${word#*=};;
      --chdir=*) cd "${word#*=}";;
    esac; done
    echo PENDING > $job/state
    test -e $CLUSTER/closed || setsid sh -c '
      job=$1; echo $$ > $job/group
      while test -e $CLUSTER/full; do sleep 0.02; done
      test $(cat $job/state) = PENDING || exit 0
      echo RUNNING > $job/state
      sh $job/script >> "$2" 2>&1; status=$?
      test $(cat $job/state) = RUNNING || exit 0
      if test $status = 0; then echo COMPLETED; else echo FAILED; fi > $job/state.new
      mv $job/state.new $job/state' sh $job "$output" > /dev/null 2>&1 < /dev/null &
    # Who ends what this has left in its process group must not end the job.
    until test -e $CLUSTER/closed || test -s $job/group || ! test -e $job; do sleep 0.01; done
    test -e $CLUSTER/deaf && { touch $CLUSTER/taken; sleep 600; }
    echo $id
    END
    cat > bin/squeue <<'END'
    #!/bin/sh
    echo "squeue $TURN" >> $CLUSTER/calls
    test -e $CLUSTER/hangs && exec sleep 600
    test -e $CLUSTER/away && { echo "squeue: error: Unable to contact slurm controller" >&2; exit 1; }
    for job in $CLUSTER/[0-9]*; do
      test -e $job/state || continue
      reason=None; test $(cat $job/state) = PENDING && reason=$(cat $CLUSTER/full 2> /dev/null || echo None)
      echo "${job##*/}|$(cat $job/state)|$reason|$(cat $job/comment)"
    done
    END
    cat > bin/sacct <<'END'
    #!/bin/sh
    echo sacct >> $CLUSTER/calls
    test -e $CLUSTER/accounts && exec cat $CLUSTER/accounts
    echo "Slurm accounting storage is disabled" >&2; exit 1
    END
    cat > bin/scancel <<'END'
    #!/bin/sh
    echo "scancel $*" >> $CLUSTER/calls
    test -e $CLUSTER/hangs && exec sleep 600
    test -e $CLUSTER/away && { echo "scancel: error: Unable to contact slurm controller" >&2; exit 1; }
    signal=; only=
    for word; do case $word in
      --signal=*) signal=${word#*=};;
      --state=*) only=${word#*=};;
      [0-9]*)
        state=$(cat $CLUSTER/$word/state); test "${only:-$state}" = $state || state=
        case $state in
          PENDING) test "$signal" = TERM || echo CANCELLED > $CLUSTER/$word/state;;
          RUNNING)
            # Without a signal Slurm kills what does not listen much later.
            test "$signal" || { echo "a running job is ended by its signal" >&2; exit 1; }
            # As Slurm does: all processes of the job at once.
            kill -s $signal -- -$(cat $CLUSTER/$word/group)
            ( while kill -s 0 -- -$(cat $CLUSTER/$word/group) 2> /dev/null; do sleep 0.1; done
              test "$(cat $CLUSTER/$word/state)" != RUNNING || echo CANCELLED > $CLUSTER/$word/state
            ) > /dev/null 2>&1 < /dev/null &;;
        esac;;
    esac; done
    END
    chmod +x bin/*

    """
}
