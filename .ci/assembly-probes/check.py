"""check.py PLATFORM FOLDER MODULE ...: looks through the assembly of modules, one of which is Probes. See .ci/assembly."""
import os
import re
import sys

platform, folder, *names = sys.argv[1:]
isARM = platform != "x86"
errors = []


def functions(path):
    """The name of each function, and its instructions; "label" for a place that is jumped to."""
    name, body = None, []
    for line in open(path, errors="replace"):
        line = re.sub(r"\s*(//|##|; ).*", "", line) if "MEMBARRIER" not in line else "\tbarrier"
        label = re.match(r'"?([^\s"]+)"?:', line)
        if label:
            if re.match(r"\.?L", label[1]):
                body.append("label")
                continue
            if name:
                yield name, body
            name, body = label[1], []
        elif re.match(r"\s+[a-z]", line):
            body.append(re.sub(r"\s+", " ", line.strip()))
    if name:
        yield name, body


def joined(body):
    """With a prefix in front of its instruction."""
    result = []
    for instruction in body:
        if result and result[-1] in ("lock", "rep"):
            result[-1] += " " + instruction
        else:
            result.append(instruction)
    return result


modules = {name: [(f, joined(b)) for f, b in functions(f"{folder}/{name}.s")]
           for name in names}


def argument(body):
    """The register that the first argument of a call behind these instructions comes from; None if it is not known."""
    for place, instruction in reversed(list(enumerate(body))):
        match = re.match(r"mov x0, (\w+)|movq (%\w+), %rdi", instruction)
        if match:
            return match[1] or match[2]
        # A retain leaves its argument where it was.
        if re.match(r"bl |blr|call", instruction) and "_retain" not in instruction:
            return None
    return None


def reads(instruction, register):
    """Whether it loads the register from memory."""
    return bool(re.match(rf"ld\w* {register},|ldp \w+, {register},|movq \S*\(.*\), {register}$", instruction))


# 1. The probes: each has its instructions, in that order.
probes = {f.lstrip("_"): b for f, b in modules["Probes"] if "probe" in f}
source = open(os.path.join(os.path.dirname(__file__), "Probes.swift")).read()
wants = re.findall(r'// (.*: .*)\n *@_silgen_name\("(\w+)"\)', source)
assert len(wants) == source.count("@_silgen_name"), "a probe without its instructions"
for line, name in wants:
    texts = dict(part.split(": ", 1) for part in line.split("; "))
    wanted = texts.get(platform) or (texts["arm"] if isARM else None)
    rest = iter(probes[name])
    for pattern in wanted.split(" then "):
        if not any(re.match(pattern, instruction) for instruction in rest):
            errors.append(f"{name}: no '{pattern}' where it is needed:\n    " + "\n    ".join(probes[name]))
            break

# 2. All of it.
changes = unlocks = 0
for module in names:
    for function, body in modules[module]:
        for place, instruction in enumerate(body):
            where = f"{module}, {function}: '{instruction}'"
            # A read-modify-write that throws the old value away acquires nothing, whatever its name says.
            if re.match(r"(ld[a-z]+al?|swpal?)[bh]? \S+, [wx]zr", instruction):
                errors.append(f"{where} does not acquire")
            if re.match(r"(cas|swp|ld(add|clr|set|eor))[al]*[bh]? |stl?xr|lock |xchg", instruction):
                changes += 1
            # A lock is released by a fence and a store.
            if not re.match(r"dmb ish|barrier", instruction) or platform == "apple":
                continue
            release = next((i for i in range(place + 1, min(place + 8, len(body)))
                            if re.match(r"stlrb? |mov[bl] ", body[i])), None)
            if release is None:
                continue
            unlocks += 1
            after = []
            for later in body[release + 1:]:
                if re.match(r"label|b |bl |blr|ret|cb|tb|b\.|br |j|call|lock|ld\w*x", later):
                    after.append(later)
                    break
                after.append(later)
            # 3. No reference that was read under the lock is counted behind the release first: the optimiser would
            # have the count follow the store at once. A second count of it is none of that, nor one of the caller's own.
            if after and "_retain" in after[-1]:
                object = argument(body[:release + len(after)])
                counted = [argument(body[:i]) for i in range(place) if "_retain" in body[i]]
                if object not in counted and (object is None or any(reads(i, object) for i in body[:place])):
                    errors.append(f"{where}: a retain behind the release of a lock: {after}")
            # 4. The count of lenders, which is read behind the store that releases an OwnedLock, is read behind it.
            between = body[place + 1:release]
            if re.match(r"stlr wzr|movl \$0", body[release]):
                if any(re.match(r"ldrb|movzbl|cmpb", i) for i in between):
                    errors.append(f"{where}: the lenders are read before the lock is released: {between}")
if platform != "apple" and unlocks == 0:
    errors.append("no release of a lock was recognised")
print(f"{platform}: {len(wants)} probes, {changes} changes of atomics, {unlocks} releases of locks")
for error in errors:
    print("error: " + error)
sys.exit(bool(errors))
