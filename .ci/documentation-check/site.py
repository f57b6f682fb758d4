"""site.py FOLDER: opens the site in a headless browser, from a server on the loopback: the start page, and of each
library its page, an article, and a symbol's page. Nothing may be missing, complain, or ask another host. The start page
leads to six guides, and to the modules in the order of the manifest."""
import functools
import glob
import http.server
import json
import os
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "timeline-check"))
from browser import Browser, find  # noqa: E402


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def pages(site):
    """Of each library its page, an article and a symbol, with what each is called."""
    chosen = [("/documentation/", None)]
    data = os.path.join(site, "data", "documentation")
    for file in sorted(glob.glob(os.path.join(data, "*.json"))):
        with open(file, encoding="utf-8") as text:
            module = json.load(text)
        wanted = {"article": None, "symbol": None}
        for reference in module["references"].values():
            kind = {"article": "article", "symbol": "symbol"}.get(reference.get("kind"))
            if kind and wanted[kind] is None and reference.get("url", "").startswith(module_path(file) + "/"):
                wanted[kind] = (reference["url"], reference["title"])
        chosen.append((module_path(file), module["metadata"]["title"]))
        chosen += [page for page in wanted.values() if page]
    return chosen


def module_path(file):
    return "/documentation/" + os.path.splitext(os.path.basename(file))[0]


def dead_links(site):
    """Links of the articles that lead to no page of the site."""
    dead = []
    for file in glob.glob(os.path.join(site, "data", "**", "*.json"), recursive=True):
        with open(file, encoding="utf-8") as text:
            page = json.load(text)
        for identifier, reference in page.get("references", {}).items():
            address = reference.get("url", "")
            if identifier.startswith("/documentation/"):
                if not os.path.exists(os.path.join(site, "data", identifier.split("#")[0].strip("/") + ".json")):
                    dead.append("%s: %s" % (os.path.relpath(file, site), identifier))
            elif reference.get("type") == "link" and "://" not in identifier and not identifier.startswith("#"):
                dead.append("%s: %s" % (os.path.relpath(file, site), identifier))
            elif reference.get("type") == "topic" and address.startswith("/"):
                path = address.split("#")[0]
                if not os.path.exists(os.path.join(site, "data", path.strip("/") + ".json")):
                    dead.append("%s: %s" % (os.path.relpath(file, site), address))
    return sorted(set(dead))


def faults_of_start(links):
    """What is wrong with the start page, by the paths of its links, in their order."""
    with open("Package.swift", encoding="utf-8") as text:
        modules = [name.lower() for name in re.findall(r'\.library\(name: "(\w+)"', text.read())]
    parts = [link.rstrip("/").split("/")[2:] for link in links if link.startswith("/documentation/")]
    # Each once: the name and the picture of a card lead to the same page.
    shown = list(dict.fromkeys(path[0] for path in parts if len(path) == 1 and path[0] in modules))
    guides = list(dict.fromkeys("/".join(path) for path in parts if len(path) == 2))
    if shown != modules:
        yield "the start page shows the modules as %s, and the manifest has %s" % (shown, modules)
    if len(guides) != 6:
        yield "the start page leads to %d guides, not six: %s" % (len(guides), guides)


def main():
    site = sys.argv[1]
    faults = ["a link leads nowhere: " + link for link in dead_links(site)]
    browser = Browser(find("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = "http://127.0.0.1:%d" % server.server_address[1]
    opened = 0
    try:
        for path, title in pages(site):
            if opened == 0:
                browser.open(root + path)
            else:
                browser.events.clear()
                browser.call("Page.navigate", url=root + path)
                browser.wait("Page.loadEventFired")
            heading = browser.wait_for("(document.querySelector('main h1')?.textContent ?? '').trim()")
            if opened == 0:
                faults += faults_of_start(browser.evaluate(
                    "[...document.querySelectorAll('main a[href]')].map(a => a.pathname)"))
            opened += 1
            if (title and title.replace(" ", "") not in heading.replace(" ", "").replace("\u200b", "")):
                faults.append("%s is called '%s', not '%s'" % (path, heading, title))
            for complaint in browser.complaints():
                # Without a theme of one's own the page asks for it once.
                if "theme-settings.json" not in json.dumps(complaint):
                    faults.append("%s: console: %s" % (path, complaint))
            for address in browser.requests():
                if not address.startswith((root, "data:")):
                    faults.append("%s asks for %s" % (path, address))
    finally:
        browser.close()
        server.shutdown()
    for fault in faults:
        print("error: " + fault)
    if not faults:
        print("opened %d pages" % opened)
    sys.exit(1 if faults else 0)


main()
