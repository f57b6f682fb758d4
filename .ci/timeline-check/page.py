"""page.py FILE [FOLDER]: uses the page of a timeline as a person would, in a headless browser.

With a folder, screenshots in both themes are left there.
"""
import base64
import os
import sys

import colours
from browser import Browser, find

# What is written on a canvas, with its ends.
WATCH = """(() => { const write = CanvasRenderingContext2D.prototype.fillText; window.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const w = this.measureText(text).width, from = this.textAlign === 'right' ? x - w : x;
    if (window.written.length < 20000) window.written.push([this.canvas.id, text, from, from + w, y]);
    return write.apply(this, arguments); }; })()"""

faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)


def check(browser, address):
    browser.open(address, script=WATCH)
    browser.frame()
    expect(browser.evaluate("document.documentElement.dataset.ready") == "yes", "the script has not run")
    rows = "document.querySelectorAll('#all tbody tr').length"
    count = browser.evaluate("JSON.parse(document.getElementById('data').textContent).entries.length")
    expect(browser.evaluate(rows) == min(count, 100), "the table of all does not hold all")
    expect(browser.evaluate("document.querySelectorAll('#waits tbody tr').length") > 0, "no waits")

    # Something is drawn.
    colours = """(() => { const s = document.getElementById('%s'); const c = document.createElement('canvas');
      c.width = s.width; c.height = s.height; const g = c.getContext('2d', {willReadFrequently: true});
      g.drawImage(s, 0, 0); const d = g.getImageData(0, 0, c.width, c.height).data; const seen = new Set(); for (let i = 0; i < d.length; i += 4)
      seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size; })()"""
    expect(browser.evaluate(colours % "canvas") > 5, "nothing is drawn")
    expect(browser.evaluate(colours % "curve") > 2, "no curve is drawn")

    # The critical path, and its first step by its link.
    steps = browser.evaluate("JSON.parse(document.getElementById('data').textContent).path.length")
    expect(steps > 0, "no critical path")
    expect(
        browser.evaluate("document.querySelectorAll('#path tbody tr.step').length") == min(steps, 200),
        "the table of the critical path does not hold it")
    first = browser.evaluate("document.querySelector('#path button').textContent")
    browser.evaluate("document.querySelector('#path button').click()")
    browser.frame()
    heading = "document.querySelector('#details h2').textContent"
    expect(browser.evaluate(heading) == first, "a link of the critical path does not lead there")
    expect(
        "critical path" in browser.evaluate("document.getElementById('details').textContent"),
        "the details do not say that it is on the path")

    check_words(browser)
    check_accessibility(browser, count)

    # A click on the canvas.
    wanted = browser.evaluate(
        "JSON.parse(document.getElementById('data').textContent).entries.filter(e => e[6] >= 0 && !e[4])"
        ".sort((a, b) => (b[11] - b[9]) - (a[11] - a[9]))[0]")
    name = browser.evaluate(
        "JSON.parse(document.getElementById('data').textContent).names[%d]" % wanted[2])
    browser.evaluate("document.getElementById('fit').click()")
    browser.frame()
    # Of very many even the longest is narrower than a pixel: it is made some 40 wide.
    part = (wanted[11] - wanted[9]) / browser.evaluate("JSON.parse(document.getElementById('data').textContent).end")
    if part < 0.04:
        browser.evaluate("timelinePage.zoom(%r, %d)" % (part / 0.04, (wanted[9] + wanted[11]) / 2))
        browser.frame()
    place = browser.evaluate("timelinePage.bounds(%d)" % wanted[0])
    browser.click(place["x"], place["y"])
    expect(browser.evaluate(heading) == name, "a click on '%s' shows something else" % name)

    # The keyboard, on the canvas.
    browser.evaluate("document.getElementById('canvas').focus()")
    browser.key("Home")
    one = browser.evaluate(heading)
    browser.key("ArrowRight")
    two = browser.evaluate(heading)
    expect(one != two or count == 1, "the arrow key does not lead to the next")
    browser.key("+")
    browser.key("0")

    # The search.
    browser.evaluate("document.getElementById('search').focus()")
    browser.type(name.upper())
    found = browser.evaluate("document.getElementById('found').textContent")
    expect(found.endswith(" found") and not found.startswith("0"), "'%s' was not found" % name)
    expect(0 < browser.evaluate(rows) <= min(count, 100), "the search does not show what it found")
    browser.key("Enter")
    expect(browser.evaluate(heading).upper().find(name.upper()) >= 0, "Enter leads elsewhere")
    browser.evaluate(
        "document.getElementById('search').value = 'no such name';"
        "document.getElementById('search').dispatchEvent(new Event('input'))")
    browser.frame()
    expect(browser.evaluate(rows) == 0, "what is not there was found")
    browser.evaluate(
        "document.getElementById('search').value = '';"
        "document.getElementById('search').dispatchEvent(new Event('input'))")

    # The other rows, and what a screen reader needs.
    choose_rows(browser, "rows")
    expect(browser.evaluate(colours % "canvas") > 5, "nothing is drawn in the rows of procedures")
    check_rows(browser)
    for element in ("canvas", "curve", "details", "legend"):
        label = browser.evaluate("document.getElementById('%s').getAttribute('aria-label')" % element)
        expect(bool(label), "%s has no label" % element)
    unlabelled = browser.evaluate(
        "[...document.querySelectorAll('input,select,button')].filter(e => !e.textContent.trim() && "
        "!e.labels?.length && !e.getAttribute('aria-label')).length")
    expect(unlabelled == 0, "%s controls without a label" % unlabelled)

    # Nothing of a name or an error has become part of the page.
    expect(browser.evaluate("document.images.length") == 0, "an image has come into the page")
    expect(browser.evaluate("document.scripts.length") == 2, "a script has come into the page")


def choose_rows(browser, view):
    browser.evaluate(
        "window.written.length = 0; document.getElementById('view').value = '%s';"
        "document.getElementById('view').dispatchEvent(new Event('change'))" % view)
    browser.frame()


def rows_drawn(browser):
    """The names in the left column of the rows of procedures, from above: how far each is indented, and the name."""
    names = {
        w[4]: ((w[2] - 8) / 10, w[1])
        for w in browser.evaluate("window.written") if w[0] == "canvas" and w[2] <= 68 and w[4] > 22}
    return [names[y] for y in sorted(names)]


def check_rows(browser):
    """A child stands below its parent, and 'critical path only' leaves nothing else, in both kinds of rows."""
    data = browser.evaluate(
        "(() => { const d = JSON.parse(document.getElementById('data').textContent);"
        "return { names: d.names, entries: d.entries.map(e => e.slice(0, 3)), path: d.path.map(p => p[0]) }; })()")
    names = {entry[0]: data["names"][entry[2]] for entry in data["entries"]}
    parents = {}
    for entry in data["entries"]:
        parents.setdefault(names[entry[0]], set()).add(names.get(entry[1]))
    browser.evaluate("document.getElementById('scroll').scrollTop = 0")
    choose_rows(browser, "rows")
    rows, above = rows_drawn(browser), {}
    expect(len(rows) > 2, "no rows")
    for indent, name in rows:
        expect(
            indent == 0 or above.get(indent - 1) in parents[name] or indent == 6,
            "'%s' stands below '%s', which is not its group" % (name, above.get(indent - 1)))
        above[indent] = name
    children = [e for e in data["entries"] if e[1] in names]
    expect(not children or len(names) > 60 or any(indent > 0 for indent, _ in rows), "no child is indented")

    on_path = {names[step] for step in data["path"]}
    only = "document.getElementById('only').click()"
    browser.evaluate(only)
    choose_rows(browser, "rows")
    shown = {name for _, name in rows_drawn(browser)}
    expect(shown and shown <= on_path, "beside the critical path there is %s" % (shown - on_path))
    hidden = next((e for e in data["entries"] if e[0] not in data["path"]), None)
    choose_rows(browser, "lanes")
    bars = {
        w[1].lstrip("✕⊘ ") for w in browser.evaluate("window.written")
        if w[0] == "canvas" and w[2] >= 70 and w[4] > 22}
    expect(all(any(bar.startswith(name) for name in on_path) for bar in bars), "lanes have %s" % (bars - on_path))
    if hidden:
        browser.evaluate("timelinePage.select(%d)" % hidden[0])
        expect(
            not browser.evaluate("document.getElementById('only').checked"),
            "what is chosen by its link stays hidden")
    else:
        browser.evaluate(only)
    choose_rows(browser, "rows")


def check_words(browser):
    """What the page says, beside what it draws."""
    data = "JSON.parse(document.getElementById('data').textContent)"
    verdict = browser.evaluate("document.getElementById('verdict').textContent")
    expect("critical path" in verdict and "%" in verdict, "no verdict: '%s'" % verdict)
    expect(browser.evaluate("document.querySelectorAll('#shares tbody tr').length") > 0, "no shares")
    expect(browser.evaluate("document.querySelectorAll('#runs tbody tr').length") > 0, "no longest running")

    # The legend has the causes that are drawn, each once, and no two entries of one name; each cause is explained.
    used = browser.evaluate(
        "(() => { const d = %s; return [...new Set(d.entries.flatMap(e => e[15].map(w => d.labels[w[0]])))]; })()" % data)
    at_first = browser.evaluate("document.getElementById('view').value")
    for view in ("lanes", "rows"):
        choose_rows(browser, view)
        legend = browser.evaluate("[...document.querySelectorAll('#legend li')].map(e => e.textContent)")
        expect(len(set(legend)) == len(legend), "the legend has two entries of one name: %s" % legend)
        causes = browser.evaluate("[...document.querySelectorAll('#legend li[data-cause]')].map(e => e.dataset.cause)")
        # Lanes draw nothing before the start.
        expect(all(not text.startswith("wait: ") for text in legend) or view == "rows", "lanes: %s" % legend)
        expect(
            set(causes) <= set(used) and (view == "lanes" or len(causes) == len(used)),
            "the legend shows %s, used are %s" % (causes, used))
        for cause in causes:
            expect(any(text.endswith(cause) for text in legend), "'%s' is not written in the legend" % cause)
    swatches = browser.evaluate(
        "[...document.querySelectorAll('#legend li')].filter(e => e.textContent.startsWith('wait: '))"
        ".map(e => getComputedStyle(e.querySelector('i')).backgroundColor)")
    expect(len(set(swatches)) == len(swatches), "two waits have one colour: %s" % swatches)
    terms = browser.evaluate("[...document.querySelectorAll('#terms dt')].map(e => e.textContent)")
    for cause in used:
        expect(any(term.endswith(cause) for term in terms), "'%s' is not explained" % cause)
    expect(
        browser.evaluate("[...document.querySelectorAll('#terms dd')].every(e => e.textContent.length > 20)"),
        "a term without words")

    # Nothing that is written at the axis is cut off at the right.
    for view in ("lanes", "rows", at_first):
        choose_rows(browser, view)
        width = browser.evaluate("document.getElementById('canvas').clientWidth")
        axis = [w for w in browser.evaluate("window.written") if w[0] == "canvas" and w[4] == 11]
        expect(len(axis) > 2, "no axis")
        for _, text, _, end, _ in axis:
            expect(end <= width, "'%s' at the axis is cut off at the right (%s)" % (text, view))
        holds = browser.evaluate(
            "(() => { const d = %s; return d.entries.filter(e => e[15].some(w => d.causes[w[0]] === 'heldEvent'"
            " && w[1] > d.end / 10)).length; })()" % data)
        written = [w[1] for w in browser.evaluate("window.written")]
        if holds:
            expect(any("held ‘will" in text for text in written), "a held event is not named (%s)" % view)

    # In the tables no wait is nameless whose cause has a name.
    rows = browser.evaluate(
        "[...document.querySelectorAll('#waits tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    for row in rows:
        # Nobody in particular keeps a procedure lingering after a cancel.
        if row[1] not in ("worker", "group", "lingering after a cancel"):
            expect(len(row[3]) > 0, "a wait for %s says not for what: %s" % (row[1], row))
        if row[1] == "slot":
            expect("‘" in row[3], "a slot of no queue: %s" % row)


def check_accessibility(browser, count):
    """What a screen reader is given, by Chromium's accessibility tree."""
    browser.call("Accessibility.enable")
    tree = browser.accessible()

    def has(role, name):
        return [node for node in tree if node["role"] == role and name in node["name"]]

    for role, name in (
            ("main", ""), ("banner", ""), ("complementary", "Details"), ("toolbar", "Timeline"),
            ("searchbox", "Find"), ("combobox", "Rows"), ("button", "Zoom in"), ("button", "Zoom out"),
            ("button", "Fit"), ("checkbox", "critical path only"), ("application", "Timeline of procedures"),
            ("image", "How many procedures ran"), ("list", "Colours"), ("link", "To the tables"),
            ("heading", "Critical path"), ("heading", "Longest waits"), ("heading", "Longest running"),
            ("heading", "Waits by cause"), ("heading", "All procedures"), ("table", "Critical path"),
            ("table", "Critical path, by cause"), ("table", "Longest waits"), ("table", "Longest running"),
            ("table", "Waits by cause"), ("table", "All procedures"), ("columnheader", "procedure")):
        expect(has(role, name), "a screen reader finds no %s '%s'" % (role, name))
    canvas = has("application", "Timeline of procedures")
    if canvas:
        expect("arrow" in canvas[0]["description"], "the keys of the canvas are not described")
        expect(
            browser.evaluate("(e => e.offsetWidth > 100 && e.offsetHeight > 10)(document.getElementById('keys').parentElement)"),
            "the keys cannot be seen")
        expect(canvas[0]["properties"].get("focusable"), "the canvas cannot be reached by keyboard")
    for node in tree:
        if node["role"] in ("button", "textbox", "searchbox", "combobox", "checkbox", "link", "table", "image"):
            expect(node["name"], "a %s without a name" % node["role"])

    # A step on the canvas is said, in one line, and politely.
    browser.evaluate("document.getElementById('canvas').focus()")
    browser.key("Home")
    tree = browser.accessible()
    status = [node for node in tree if node["role"] == "status"]
    expect(status and all(node["properties"].get("live") == "polite" for node in status), "no live region")
    said = browser.evaluate("document.getElementById('status').textContent")
    name = browser.evaluate("document.querySelector('#details h2').textContent")
    expect(said.startswith(name) and ("started at" in said or "not started" in said), "said is '%s'" % said)
    expect(
        browser.evaluate("document.querySelectorAll('#details[aria-live]').length") == 0,
        "all details are read out at each step")


def smoothness(browser):
    """Milliseconds to draw once, at most, while zooming and panning."""
    return browser.evaluate("""(() => { let worst = 0; for (let i = 0; i < 30; i++) {
      timelinePage.zoom(i < 15 ? 0.7 : 1 / 0.7); const t = performance.now(); timelinePage.paint();
      worst = Math.max(worst, performance.now() - t); } return worst; })()""")


def main():
    if not os.path.isfile(sys.argv[1]):
        sys.exit("error: there is no file '%s'" % sys.argv[1])
    with open(sys.argv[1], encoding="utf-8") as file:
        for theme, values in colours.themes_of(file.read()).items():
            faults.extend(colours.faults_of(values, theme))
    address = "file://" + os.path.abspath(sys.argv[1])
    browser = Browser(find("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))
    try:
        check(browser, address)
        print("drawn in at most %.1f ms" % smoothness(browser))
        if len(sys.argv) > 2:
            for scheme in ("light", "dark"):
                browser.call(
                    "Emulation.setEmulatedMedia",
                    features=[{"name": "prefers-color-scheme", "value": scheme}])
                browser.frame()
                with open(os.path.join(sys.argv[2], scheme + ".png"), "wb") as file:
                    file.write(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))
        for complaint in browser.complaints():
            faults.append("console: %s" % complaint)
        if browser.requests() != [address]:
            faults.append("requests: %s" % browser.requests())
    finally:
        browser.close()
    for fault in faults:
        print("error: " + fault)
    if not faults:
        print("the page works")
    sys.exit(1 if faults else 0)


main()
