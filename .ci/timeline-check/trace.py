"""trace.py FILE: has Chromium's own trace engine, that of DevTools, read a trace.

Checks that it knows each lane with its slices, and each flow from the start of one slice to another's.
"""
import json
import sys

from browser import Browser, find

READ = """(async () => {
  const T = await import('devtools://devtools/bundled/models/trace/trace.js');
  const model = T.TraceModel.Model.createWithAllHandlers();
  await model.parse(%s, {metadata: {}, isFreshRecording: false});
  const parsed = model.parsedTrace(0), data = parsed.data ?? parsed;
  const lanes = [];
  for (const [pid, process] of data.Renderer.processes)
    for (const [tid, thread] of process.threads)
      lanes.push([pid, tid, thread.name, thread.entries.map(e => [e.name, e.ts, e.dur ?? 0])]);
  const flows = data.Flows.flows.map(flow => flow.map(e => [e.name, e.ts]));
  return {lanes, flows};
})()"""


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    browser = Browser(find("chromium"))
    try:
        browser.open("devtools://devtools/bundled/devtools_app.html")
        seen = browser.evaluate(READ % json.dumps(events))
    finally:
        browser.close()
    faults = []
    slices = [event for event in events if event["ph"] == "X"]
    read = {(pid, tid): entries for pid, tid, _, entries in seen["lanes"]}
    names = {(pid, tid): name for pid, tid, name, _ in seen["lanes"]}
    for event in slices:
        entries = read.get((event["pid"], event["tid"]), [])
        if [event["name"], event["ts"], event["dur"]] not in entries:
            faults.append("slice '%s' was not read" % event["name"])
        if names.get((event["pid"], event["tid"])) != "lane %d" % event["tid"]:
            faults.append("lane %d has no name" % event["tid"])
    starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s"}
    ends = {event["id"]: event["ts"] for event in events if event["ph"] == "f"}
    wanted = sorted([starts[key], ends[key]] for key in starts)
    flows = sorted([flow[0][1], flow[-1][1]] for flow in seen["flows"])
    if flows != wanted:
        faults.append("flows read: %s, written: %s" % (flows, wanted))
    for fault in faults[:20]:
        print("error: " + fault)
    if not faults:
        print("read by Chromium: %d slices, %d flows" % (len(slices), len(wanted)))
    sys.exit(1 if faults else 0)


main()
