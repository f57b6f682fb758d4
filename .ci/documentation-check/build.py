"""build.py FOLDER [BASE]: has docc make FOLDER/site, of all libraries and their catalogs."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


def libraries():
    """The modules of the package's libraries, each after those that it depends on."""
    package = json.loads(subprocess.run(
        ["swift", "package", "dump-package"], stdout=subprocess.PIPE, check=True, text=True).stdout)
    public = [target for product in package["products"] if "library" in product["type"] for target in product["targets"]]
    needs = {
        target["name"]: [next(iter(d.values()))[0] for d in target["dependencies"]] for target in package["targets"]}
    order = []

    def add(name):
        for other in needs[name]:
            if other in public:
                add(other)
        if name not in order:
            order.append(name)

    for name in public:
        add(name)
    return order, needs


def below(name, needs):
    """All that a module depends on."""
    found = []
    for other in needs.get(name, []):
        found += [other, *below(other, needs)]
    return found


def site_catalog(catalog, module, folder):
    """A copy of a catalog in which links between articles are DocC's. In the sources they are paths, which a code host
    follows, and DocC does not. Those to other modules become addresses below the root: site.py looks whether they lead
    anywhere."""
    copy = os.path.join(folder, "catalogs", os.path.basename(catalog))
    shutil.copytree(catalog, copy)
    for file in glob.glob(os.path.join(copy, "*.md")):
        def link(match):
            path = os.path.normpath(os.path.join(catalog, match[1]))
            parts = re.fullmatch(r"Sources/(\w+)/\w+\.docc/(\w+)\.md", path)
            if not parts:
                return "](%s)" % match[1]
            other, article = parts[1], parts[2]
            if other == module:
                return "](doc:%s)" % article
            return "](/documentation/%s/%s)" % (other.lower(), article.lower())

        with open(file, encoding="utf-8") as text:
            words = text.read()
        with open(file, "w", encoding="utf-8") as text:
            text.write(re.sub(r"\]\(([^)\s#:]+\.md)(?:#[\w-]*)?\)", link, words))
    return copy


def undocumented(file):
    """The public declarations of a symbol graph that have no comment."""
    with open(file, encoding="utf-8") as text:
        symbols = json.load(text)["symbols"]
    for symbol in symbols:
        # Without a place they are the compiler's own.
        if "docComment" in symbol or "location" not in symbol or "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
            continue
        place = symbol["location"]
        yield "%s:%d: %s has no comment" % (
            place["uri"].replace("file://", ""), place["position"]["line"] + 1, ".".join(symbol["pathComponents"]))


def without_topic(name, file, catalog):
    """The public types, functions and constants of a module that no page of its catalog names. Deprecated ones need
    no page: their own leads to what replaces them."""
    with open(file, encoding="utf-8") as text:
        symbols = json.load(text)["symbols"]
    words = ""
    for page in glob.glob(os.path.join(catalog, "**", "*.md"), recursive=True):
        with open(page, encoding="utf-8") as text:
            words += text.read()
    current = [s for s in symbols if not any(a.get("isUnconditionallyDeprecated") for a in s.get("availability", []))]
    for title in sorted({s["pathComponents"][0] for s in current if len(s["pathComponents"]) == 1}):
        if "- ``%s``" % title not in words and "- ``%s-" % title not in words:
            yield "%s: no topic names '%s'" % (name, title)


def main():
    folder, base = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    names, needs = libraries()
    graphs = glob.glob(".build/*/symbolgraph") + glob.glob(".build/symbolgraph")
    if not graphs:
        sys.exit("error: there are no symbol graphs")
    newest = max(graphs, key=os.path.getmtime)
    faults = []
    archives = {}
    for name in names:
        catalog = "Sources/%s/%s.docc" % (name, name)
        own = os.path.join(folder, "graphs", name)
        os.makedirs(own)
        files = glob.glob("%s/%s.symbols.json" % (newest, name))
        # Its names are unavailable: it has one page, without topics.
        if name != "ProcedureKitNames":
            files += glob.glob("%s/%s@*.symbols.json" % (newest, name))
            for file in files[:1]:
                faults += without_topic(name, file, catalog)
        for file in files:
            shutil.copy(file, own)
            faults += undocumented(file)
        if not os.path.isdir(catalog):
            faults.append("there is no catalog '%s'" % catalog)
            continue
        if not files:
            faults.append("there is no symbol graph of '%s'" % name)
            continue
        archives[name] = os.path.join(folder, "%s.doccarchive" % name)
        command = [
            "docc", "convert", site_catalog(catalog, name, folder), "--additional-symbol-graph-dir", own, "--fallback-display-name", name,
            "--fallback-bundle-identifier", name, "--warnings-as-errors", "--output-path", archives[name],
            "--enable-experimental-external-link-support"]
        for other in names:
            if other in archives and other in below(name, needs):
                command += ["--dependency", archives[other]]
        if base:
            command += ["--hosting-base-path", base]
        status, output = run(*command)
        complaints = [line for line in output.splitlines() if re.search(r"\b(warning|error):", line)]
        if status != 0 or complaints:
            # Each with the line that says where.
            lines = output.splitlines()
            faults += [
                "%s: %s %s" % (name, line, next((l.strip() for l in lines[place + 1:place + 4] if "-->" in l), ""))
                for place, line in enumerate(lines) if line in complaints] or [output]
            # What depends on it has nothing to link to.
            if not os.path.isdir(archives[name]):
                del archives[name]
    if not faults:
        merge = ["docc", "merge", *archives.values(), "--synthesized-landing-page-name", "Procedures",
                 "--synthesized-landing-page-topics-style", "list",
                 "--output-path", os.path.join(folder, "site")]
        if base:
            merge += ["--hosting-base-path", base]
        status, output = run(*merge)
        if status != 0:
            # Older ones take no base path: it is in the archives.
            status, output = run(*[part for part in merge if part not in ("--hosting-base-path", base)])
        if status != 0:
            faults.append(output)
        else:
            front(os.path.join(folder, "site"), base)
            faults += start_page(folder, list(archives))
            print("made: %s" % ", ".join(archives))
    for fault in faults:
        print("error: " + fault if "error:" not in fault else fault)
    sys.exit(1 if faults else 0)


def start_page(folder, names):
    """Completes the page that lists all modules: docc merge makes one without words, in alphabetical order. It gets the
    text of Documentation/Site.docc, and the order of the manifest, as does the sidebar."""
    converted = os.path.join(folder, "start.doccarchive")
    status, output = run(
        "docc", "convert", site_catalog("Documentation/Site.docc", None, folder), "--fallback-display-name", "Start",
        "--fallback-bundle-identifier", "Start", "--warnings-as-errors", "--output-path", converted)
    if status != 0:
        return [output]
    with open(os.path.join(converted, "data", "documentation", "start.json"), encoding="utf-8") as text:
        start = json.load(text)
    file = os.path.join(folder, "site", "data", "documentation.json")
    with open(file, encoding="utf-8") as text:
        page = json.load(text)
    place = {name.lower(): number for number, name in enumerate(names)}

    def order(address):
        return place[address.rsplit("/", 1)[1].lower()]

    page["abstract"] = start["abstract"]
    page["primaryContentSections"] = start["primaryContentSections"]
    page["references"].update(start.get("references", {}))
    [modules] = page["topicSections"]
    modules["title"] = "Modules"
    modules["identifiers"].sort(key=order)
    with open(file, "w", encoding="utf-8") as text:
        json.dump(page, text)
    file = os.path.join(folder, "site", "index", "index.json")
    with open(file, encoding="utf-8") as text:
        index = json.load(text)
    for roots in index["interfaceLanguages"].values():
        for root in roots:
            root["children"].sort(key=lambda module: order(module["path"]))
    with open(file, "w", encoding="utf-8") as text:
        json.dump(index, text)
    return []


def front(site, base):
    """The page at the root, which says nothing by itself, leads to the list of modules."""
    address = "/%s/documentation/" % base if base else "/documentation/"
    with open(os.path.join(site, "index.html"), "w", encoding="utf-8") as file:
        file.write(
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Procedures</title>'
            '<meta http-equiv="refresh" content="0; url=%s"></head>'
            '<body><a href="%s">Documentation</a></body></html>\n' % (address, address))


main()
