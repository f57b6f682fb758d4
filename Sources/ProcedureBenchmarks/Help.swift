/// What `benchmarks --help` prints.
enum Help {
  static let text = """
    Prints what things cost beside what else does them, in one run.

    Usage: swift run -c release benchmarks [filter] [options]

    The filter is a part of the name of a case, as in 'no-op' or 'token'.

    Options:
          --list           print the names of the cases, and run nothing
          --markdown       print Markdown tables
          --json FILE      write machine, commit and all rows to a file
          --compare FILE   print each row beside that of a file that --json wrote
          --plot FILE      write an SVG of the cost against the number of procedures; needs the
                           cases whose names begin with 'scale'
          --rounds N       measure each entry N times (default: 9; long cases fewer)
          --quick          3 rounds with a tenth of the items, to try things out
          --commit NAME    what to write down as the commit (default: ask git)
      -h, --help           print this

    How it measures. A case is one piece of work, an entry one way of doing it. Each case runs in a
    process of its own, so that none finds what another left behind. In it each entry first does its
    work once unmeasured, and each item of it is counted: if one is missing, the program stops. Then
    come the rounds. In each, every entry is measured once, in an order that changes so that nobody
    always comes after the same one. What is too slow does a part of the items, and says so.

    What it prints, for each row:

      median, min   of the rounds, for one item
      spread        the distance of the quartiles as a part of the median: half of the rounds lie
                    that close together
      ratio         to the reference of the case, which is the best of the other contestants, or the
                    first entry where there are none: the median of the rounds' ratios

    When it is too noisy to judge. Before each measurement a fixed loop of arithmetic runs on all
    cores for some milliseconds. It always takes the same time, unless something else has the
    processor. Where one in ten of these loops takes longer than their median by more than 5 %, the
    case says that it is too noisy, and the cost table judges nothing of it. A row with a spread
    above 15 % is marked as noisy; of such the cost table judges only what both quartiles agree on.
    Run it again on a quiet machine.

    The cost table holds some of the figures against what they may cost at most (ceiling) and should
    cost (aim). --compare marks with MORE and less the rows that differ by more than 5 %, by more than
    the two spreads together, and by more than the speed of the machine differs.

    Exit status: 0, whatever the figures are; 2 for a bad command line or file, or when a case did
    not end well.
    """
}
