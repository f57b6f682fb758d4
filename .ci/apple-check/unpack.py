"""Takes Apple's C headers out of the wheel `ziglang`: unpack.py WHEEL FOLDER."""

import pathlib
import sys
import zipfile

wheel, target = sys.argv[1:]
prefix = "ziglang/lib/libc/include/any-darwin-any/"
with zipfile.ZipFile(wheel) as files:
    for name in files.namelist():
        if name.startswith(prefix) and not name.endswith("/"):
            path = pathlib.Path(target, name[len(prefix):])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files.read(name))
