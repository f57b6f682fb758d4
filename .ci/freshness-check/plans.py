"""Random plans over random files, edited in every way and killed anywhere: at the end they are like a build from nothing.

plans.py RUNBOOK KILLER COUNT [FIRST]
"""

import ctypes, json, os, random, shutil, signal, subprocess, sys, tempfile, time

runbook, killer = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
count, first = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 0
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # Orphans of a killed run are ours, so that we can end them.

NAMES = ["a", "b", "c d", "\u00fc", "u\u0308", "-x", "%41", "e=f"]


class Model:
    """What the plan is, in values that a build from nothing can be made of as well."""

    def __init__(self, dice):
        self.dice = dice
        self.steps = []
        self.variable = "v0"
        self.number = 0
        for _ in range(dice.randint(2, 6)):
            self.add()

    def fresh(self):
        self.number += 1
        return self.number

    def sources(self):
        return ["src/" + name for name in NAMES[:5]] + ["src", "tree"]

    def add(self):
        dice, n = self.dice, self.fresh()
        made = [o for s in self.steps for o in s["outputs"]]
        inputs = dice.sample(self.sources() + ["src/*"] + made, dice.randint(0, 3))
        kind = dice.choice(["plain", "plain", "plain", "folder", "restat", "old", "depfile"])
        # Files that steps make are in one folder, a part of them in folders of their own.
        name = f"out/{dice.choice(NAMES)}{n}"
        self.steps.append({
            "name": f"s{n}", "kind": kind, "inputs": inputs, "salt": str(n), "part": dice.random() < 0.3,
            "outputs": [name] if kind in ("folder", "depfile") or dice.random() < 0.7 else [name, f"more/{n}"],
            "of": dice.sample(self.steps, 1) if self.steps and dice.random() < 0.3 else [],
            "uses": dice.random() < 0.3, "reads": dice.choice(["src/a", "src/b", "tree/deep/x"])})

    def command(self, step):
        q = lambda s: "'" + s.replace("'", "'\\''") + "'"
        # Names and contents of all files, in the order of their bytes; what several stand for comes as arguments.
        several = step["of"] or "src/*" in step["inputs"]
        reading = "; ".join(
            f"LC_ALL=C find -L {i} -type f 2> /dev/null | LC_ALL=C sort | while IFS= read -r f; do echo \"$f\"; cat \"$f\"; done"
            for i in (['"$@"'] if several else [q("./" + i) for i in step["inputs"]])) or ":"
        lines = []
        for number, output in enumerate(step["outputs"]):
            o = q("./" + output)
            text = "{ echo " + step["salt"] + f" {number}" + (" $V" if step["uses"] else "") + f"; {reading}; }}"
            if step["kind"] == "folder":
                lines += [f"rm -rf {o}; mkdir -p {o}/in", f"{text} > {o}/in/x", f"{text} | cksum > {o}/y"]
            elif step["kind"] == "restat":
                lines += [f"{text} | cksum | cut -c1 > {o}.new", f"cmp -s {o}.new {o} && rm {o}.new || mv {o}.new {o}"]
            elif step["kind"] == "old":
                lines += [f"{text} > {o}", f"touch -d 2001-01-01 {o}"]
            elif step["kind"] == "depfile":
                d = q("./" + output + ".d")
                lines += [f"echo half > {o}", f"{{ {text}; cat {q(step['reads'])}; }} > {o}",
                          f"echo {q('x: ' + step['reads'])} > {d}"]
            else:
                lines += [f"echo half > {o}", f"{text} > {o}"]
        return lines

    def plan(self, folder, name):
        """Writes the plan: a part of it is in a file that it includes."""
        def written(step):
            result = {"name": step["name"], "run": self.command(step), "inputs": step["inputs"],
                      "outputs": step["outputs"]}
            if step["of"]:
                result["outputsOf"] = [other["name"] for other in step["of"]]
            if step["uses"]:
                result["environment"] = {"V": self.variable}
            if step["kind"] == "depfile":
                result["depfile"] = step["outputs"][0] + ".d"
            return result
        parts = [written(s) for s in self.steps if s["part"]]
        with open(f"{folder}/part.json", "w") as file:
            json.dump({"steps": parts}, file)
        plan = {"steps": [written(s) for s in self.steps if not s["part"]], "include": "part.json"}
        with open(f"{folder}/{name}", "w") as file:
            json.dump(plan, file)

    def edit(self, dice):
        """Changes the plan in one way."""
        step = dice.choice(self.steps)
        used = lambda o: any(o in s["inputs"] for s in self.steps)
        named = any(step in s["of"] for s in self.steps)
        what = dice.choice(["name", "salt", "variable", "part", "remove", "add", "output", "inputs", "kind", "swap"])
        if what == "name": step["name"] = f"s{self.fresh()}"
        elif what == "salt": step["salt"] = str(self.fresh())
        elif what == "variable": self.variable = f"v{self.fresh() % 3}"
        elif what == "part": step["part"] = not step["part"]
        elif what == "add": self.add()
        elif what == "remove" and len(self.steps) > 1 and not named and not any(map(used, step["outputs"])): self.steps.remove(step)
        elif what == "output" and not any(map(used, step["outputs"])): step["outputs"] = [f"out/n{self.fresh()}"]
        elif what == "inputs": step["inputs"] = [i for i in step["inputs"] if dice.random() < 0.5]
        elif what == "kind" and step["kind"] == "plain" and not any(map(used, step["outputs"])): step["kind"] = "folder"
        elif what == "swap":
            other = dice.choice(self.steps)
            step["name"], other["name"] = other["name"], step["name"]


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def begin(folder):
    for name in ["src/sub", "tree/deep", "ext/in"]:
        os.makedirs(f"{folder}/{name}")
    for name in NAMES[:5]:
        write(f"{folder}/src/{name}", name)
    write(f"{folder}/tree/deep/x", "x")
    write(f"{folder}/ext/in/y", "y")
    os.symlink("../ext", f"{folder}/tree/link")
    os.symlink("../deep", f"{folder}/tree/deep/circle")
    with open(os.fsencode(folder) + b"/src/sub/\xff\xfe", "w") as file:
        file.write("bytes")


def edit_files(folder, dice, model, only_sources=False):
    """Changes files in one way. The five names in src and what a depfile names stay.

    While a step runs nobody but it may write its outputs: such a change is like one that it makes itself."""
    file = lambda: f"{folder}/src/" + dice.choice(NAMES[:5])
    a, b = file(), file()
    text = lambda: str(dice.randint(0, 9)) * dice.randint(1, 3)
    other = f"{folder}/other"
    made = [f"{folder}/{o}" for s in model.steps for o in s["outputs"]]
    what = dice.randrange(15 if only_sources else 20)
    if what == 0: write(a, text())
    elif what == 1:  # The same size and times, in the same file.
        times = os.stat(a)
        write(a, "".join(dice.choice("xyz") for _ in range(times.st_size)))
        os.utime(a, ns=(times.st_atime_ns, times.st_mtime_ns))
    elif what == 2:  # The same in another file.
        times = os.stat(a)
        write(other, "".join(dice.choice("xyz") for _ in range(times.st_size)))
        os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns)); os.rename(other, a)
    elif what == 3 and a != b: os.rename(a, other); os.rename(b, a); os.rename(other, b)
    elif what == 4 and a != b: shutil.copy2(a, other); os.rename(other, b)
    elif what == 5 and not os.path.samefile(a, b): shutil.copy2(a, b)
    elif what == 6 and a != b and not os.path.islink(a) and not os.path.samefile(a, b): os.unlink(b); os.link(a, b)
    elif what == 7 and not os.path.islink(a) and os.stat(a).st_nlink == 1: shutil.copy2(a, other + "2"); os.unlink(a); os.symlink("../other2", a)
    elif what == 8: os.utime(a)
    elif what == 9: os.utime(a, (1, 1))
    elif what == 10:  # Another spelling of one letter.
        names = [f"{folder}/src/sub/{n}" for n in NAMES[3:5]]
        if os.path.exists(names[0]): os.rename(*names)
        elif os.path.exists(names[1]): os.rename(names[1], names[0])
        else: write(names[0], "letter")
    elif what == 11: write(os.fsencode(folder) + b"/src/sub/\xff\xfe", text())
    elif what == 12: write(f"{folder}/ext/in/y", text())
    elif what == 13:
        path = f"{folder}/src/sub/{dice.choice('pq')}"
        if os.path.exists(path): os.unlink(path)
        else: write(path, text())
    elif what == 14: write(f"{folder}/tree/deep/x", text())
    elif what in (15, 16) and made:  # What a step has made.
        path = dice.choice(made)
        if os.path.isdir(path):
            inner = dice.choice([f"{path}/y", f"{path}/in/x"])
            if dice.random() < 0.3: shutil.rmtree(path)
            elif dice.random() < 0.5 and os.path.exists(inner): os.unlink(inner)
            elif os.path.isdir(path): write(f"{path}/y", "edited")
        elif os.path.exists(path):
            if dice.random() < 0.5: os.unlink(path)
            else: write(path, "edited")
    elif what == 17 and len(made) > 1:
        one, two = dice.sample(made, 2)
        if os.path.isfile(one) and os.path.isfile(two) and not os.path.samefile(one, two): shutil.copy2(one, two)
    elif what == 18:
        for name in os.listdir(folder):
            if name == ".runbook.log": os.unlink(f"{folder}/{name}")
    elif what == 19 and os.path.exists(f"{folder}/.runbook.log"):
        with open(f"{folder}/.runbook.log", "r+b") as file: file.truncate(dice.randint(0, os.path.getsize(file.name)))


def reap():
    """Ends what a killed run has left."""
    while True:
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                for child in file.read().split():
                    os.kill(int(child), signal.SIGKILL)
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
        except ProcessLookupError:
            pass


def run(folder, *arguments, kill=None, half=False, during=None):
    environment = dict(os.environ)
    if kill is not None:
        environment.update(LD_PRELOAD=killer, KILL_PROGRAM=runbook, KILL_AT=str(kill), **({"KILL_HALF": "1"} if half else {}))
    process = subprocess.Popen([runbook, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    if during: during()
    output = process.communicate()[0].decode(errors="replace")
    reap()
    return process.returncode, output


def state(folder, model):
    """All files that steps have made, with what is in them."""
    files = {}
    for step in model.steps:
        for output in step["outputs"]:
            path = f"{folder}/{output}"
            inner = [path] if os.path.isfile(path) else [f"{d}/{n}" for d, _, names in os.walk(path) for n in names]
            for file in inner:
                with open(file, "rb") as content:
                    files[file[len(folder):]] = content.read()
    return files


def check(seed):
    dice = random.Random(seed)
    folder = tempfile.mkdtemp()
    begin(folder)
    model = Model(dice)
    history = []
    for _ in range(dice.randint(2, 6)):
        plan = dice.choice(["one.json", "one.json", "two.json"])
        model.plan(folder, plan)
        options = [f"-j{dice.randint(1, 3)}", "-k", plan]
        how = dice.choice(["kill", "kill", "edit", "plain"])
        if how == "kill":
            number = int(10 ** dice.uniform(0.5, 3))
            history.append((how, number, run(folder, *options, kill=number, half=dice.random() < 0.5)))
        elif how == "edit":
            def during():
                time.sleep(dice.uniform(0, 0.03))
                edit_files(folder, dice, model, only_sources=True)
            history.append((how, run(folder, *options, during=during)))
        else:
            history.append((how, run(folder, *options)))
        for _ in range(dice.randint(0, 3)):
            edit_files(folder, dice, model)
        for _ in range(dice.randint(0, 2)):
            model.edit(dice)
    plan = dice.choice(["one.json", "two.json"])
    for name in ("one.json", "two.json"):
        model.plan(folder, name)
    history.append(run(folder, "--prune", plan))
    end = run(folder, "-k", "--explain", plan)
    again = run(folder, "--explain", plan)
    other = tempfile.mkdtemp()
    for name in ("src", "tree", "ext"):
        shutil.copytree(f"{folder}/{name}", f"{other}/{name}", symlinks=True)
    if os.path.exists(f"{folder}/other2"): shutil.copy2(f"{folder}/other2", other)
    model.plan(other, plan)
    new = run(other, "-k", plan)
    problems = []
    if end[0] or new[0]: problems.append(f"status {end[0]}, from nothing {new[0]}")
    one, two = state(folder, model), state(other, model)
    for name in sorted(one.keys() | two.keys()):
        if one.get(name) != two.get(name): problems.append(f"{name!r}: {one.get(name)!r}, from nothing {two.get(name)!r}")
    if f": {len(model.steps)} not needed" not in again[1]: problems.append("it runs again without a reason")
    if problems:
        print(f"seed {seed} in {folder}, from nothing in {other}:", *problems, sep="\n  ")
        for entry in history: print("  ", entry)
        print("  the end:", *end, "again:", *again, "from nothing:", *new, sep="\n")
        return False
    shutil.rmtree(folder); shutil.rmtree(other)
    return True


sys.stdout.reconfigure(line_buffering=True)
failed = 0
for seed in range(first, first + count):
    if seed % 500 == 0 and seed > first: print(f"{seed - first} of {count}")
    if not check(seed):
        failed += 1
        if failed > 3: break
print(f"{count} random plans from {first} on: " + (f"{failed} wrong" if failed else "each like a build from nothing"))
sys.exit(1 if failed else 0)
