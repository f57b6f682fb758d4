"""page.py FILE [FOLDER]: uses the page of a timeline as a person would, in a headless browser.

With a folder, screenshots in both themes are left there.
"""
import base64
import os
import sys

from browser import Browser, find

faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)


def check(browser, address):
    browser.open(address)
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
        browser.evaluate("document.querySelectorAll('#path tbody tr').length") == min(steps, 200),
        "the table of the critical path does not hold it")
    first = browser.evaluate("document.querySelector('#path button').textContent")
    browser.evaluate("document.querySelector('#path button').click()")
    browser.frame()
    heading = "document.querySelector('#details h2').textContent"
    expect(browser.evaluate(heading) == first, "a link of the critical path does not lead there")
    expect(
        "critical path" in browser.evaluate("document.getElementById('details').textContent"),
        "the details do not say that it is on the path")

    # A click on the canvas.
    wanted = browser.evaluate(
        "JSON.parse(document.getElementById('data').textContent).entries.filter(e => e[6] >= 0 && !e[4])"
        ".sort((a, b) => (b[11] - b[9]) - (a[11] - a[9]))[0]")
    name = browser.evaluate(
        "JSON.parse(document.getElementById('data').textContent).names[%d]" % wanted[2])
    browser.evaluate("document.getElementById('fit').click()")
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
    browser.evaluate(
        "document.getElementById('view').value = 'rows';"
        "document.getElementById('view').dispatchEvent(new Event('change'))")
    browser.frame()
    expect(browser.evaluate(colours % "canvas") > 5, "nothing is drawn in the rows of procedures")
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


def smoothness(browser):
    """Milliseconds to draw once, at most, while zooming and panning."""
    return browser.evaluate("""(() => { let worst = 0; for (let i = 0; i < 30; i++) {
      timelinePage.zoom(i < 15 ? 0.7 : 1 / 0.7); const t = performance.now(); timelinePage.paint();
      worst = Math.max(worst, performance.now() - t); } return worst; })()""")


def main():
    if not os.path.isfile(sys.argv[1]):
        sys.exit("error: there is no file '%s'" % sys.argv[1])
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
