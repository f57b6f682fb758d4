"""A browser over --remote-debugging-pipe, with nothing but Python's standard library."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

# Seconds that only a browser that hangs takes, however busy the machine is.
TIMEOUT = 900


def find(*programs):
    """The first of these that is installed; says so and ends well if none is."""
    for program in programs:
        if shutil.which(program):
            return program
    print("skipped: none of %s is installed" % ", ".join(programs))
    sys.exit(0)


class Browser:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp()
        # The shell moves the descriptors to where the browser looks for them.
        command = (
            "exec %s --headless --no-sandbox --hide-scrollbars --remote-debugging-pipe "
            "--user-data-dir='%s' about:blank 3<&0 4>&1 >/dev/null 2>/dev/null" % (program, self.folder))
        self.process = subprocess.Popen(
            ["timeout", str(TIMEOUT), "sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.events = []
        self.session = None
        self.unread = b""

    def read(self):
        while b"\0" not in self.unread:
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                raise EOFError("the browser ended, or took longer than %d s" % TIMEOUT)
            self.unread += part
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait(self, name):
        while True:
            for index, event in enumerate(self.events):
                if event.get("method") == name:
                    return self.events.pop(index)
            self.events.append(self.read())

    def open(self, address, width=1280, height=1000, script=None):
        """With a script it is run in the page before the page's own."""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = [target for target in targets if target["type"] == "page"][0]
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False)
        if script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        self.call("Page.navigate", url=address)
        self.wait("Page.loadEventFired")

    def evaluate(self, expression):
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, expression):
        """The first value of the expression that is true in JavaScript; it is asked for at each frame."""
        return self.evaluate(
            "new Promise(done => { const look = () => { const value = %s; value ? done(value) : "
            "requestAnimationFrame(look); }; look(); })" % expression)

    def frame(self):
        """Returns when what was asked for has been drawn."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def accessible(self):
        """What a screen reader is given: role, name, description and value of each node that it does not skip."""
        def text(node, key):
            return str(node.get(key, {}).get("value", ""))
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            {
                **{key: text(node, key) for key in ("role", "name", "description", "value")},
                "properties": {p["name"]: p["value"].get("value") for p in node.get("properties", [])},
            } for node in nodes if not node.get("ignored")]

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.frame()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.frame()

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)
        self.frame()

    def complaints(self):
        """What the console was told, and exceptions that were not caught."""
        return [
            event["params"] for event in self.events
            if event.get("method") in (
                "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]

    def requests(self):
        return [
            event["params"]["request"]["url"] for event in self.events
            if event.get("method") == "Network.requestWillBeSent"]

    def close(self):
        try:
            self.call("Browser.close")
        except (EOFError, BrokenPipeError):
            pass
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
