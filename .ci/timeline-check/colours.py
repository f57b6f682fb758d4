"""Whether the colours of the page can be told apart: from the background, and from each other, also by those
who do not see all colours. The simulation of colour blindness is that of Machado, Oliveira and Fernandes (2009)."""
import math
import re

MATRICES = {
    "all colours": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# The waits, and the critical path: what a legend tells apart. About 2 is what an eye just sees side by side.
APART = [
    "path", "dependency", "barrier", "condition", "group-wait", "suspension", "exclusion", "rate", "slot",
    "worker", "heldEvent"]
LEAST_DISTANCE = 13
# Of WCAG 2.2: 1.4.3 for text, 1.4.11 for what is drawn.
TEXT, DRAWN = 4.5, 3.0


def linear(colour):
    values = [int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def luminance(colour):
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, two):
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


def lab(values):
    red, green, blue = [min(max(v, 0), 1) for v in values]
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    x, y, z = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def distance(one, two, matrix):
    seen = [
        lab([sum(row[place] * values[place] for place in range(3)) for row in matrix])
        for values in (linear(one), linear(two))]
    return math.dist(*seen)


def faults_of(colours, theme):
    """What is wrong with the colours of one theme, by name."""
    faults = []
    back, panel = colours["back"], colours["panel"]
    for name in ("text", "dim", "accent"):
        for behind in (back, panel):
            if contrast(colours[name], behind) < TEXT:
                faults.append("%s: %s is %.2f : 1 on %s" % (theme, name, contrast(colours[name], behind), behind))
    for name in APART:
        if contrast(colours[name], back) < DRAWN:
            faults.append("%s: %s is %.2f : 1" % (theme, name, contrast(colours[name], back)))
    for name in ("succeeded", "failed", "cancelled", "running", "group"):
        if contrast(colours["ink"], colours[name]) < TEXT:
            faults.append("%s: names on %s are %.2f : 1" % (theme, name, contrast(colours["ink"], colours[name])))
        if contrast(colours["path"], colours[name]) < DRAWN:
            faults.append("%s: the path on %s is %.2f : 1" % (theme, name, contrast(colours["path"], colours[name])))
    for sight, matrix in MATRICES.items():
        for place, one in enumerate(APART):
            for two in APART[:place]:
                apart = distance(colours[one], colours[two], matrix)
                if apart < LEAST_DISTANCE:
                    faults.append("%s, %s: %s and %s are %.1f apart" % (theme, sight, one, two, apart))
    return faults


def themes_of(page):
    """The colours of both themes, from the page's style."""
    style = page[page.index("<style>"):page.index("</style>")]
    light, dark = style.split("prefers-color-scheme: dark", 1)
    find = lambda text: dict(re.findall(r"--([A-Za-z-]+): (#[0-9a-f]{6});", text))
    return {"light": find(light), "dark": find(dark)}
