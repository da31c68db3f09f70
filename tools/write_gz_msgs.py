"""Write the Python modules of `ghost/gz/msgs/*.proto` anew.

    python -m pip install grpcio-tools       (a protoc; any version)
    python tools/write_gz_msgs.py

The version guard of the generated modules is taken out: it would bind Ghost to one or two major
versions of the protobuf runtime, while what it guards (a serialised file descriptor, and the
builder that has read it since protobuf 3.20) is the same in all of them (docs/adr/0020).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "ghost" / "gz" / "msgs"
_GUARD = re.compile(
    r"^from google\.protobuf import runtime_version as .*\n"
    r"|^_runtime_version\.ValidateProtobufRuntimeVersion\((?:.|\n)*?^\)\n",
    re.MULTILINE,
)


def without_guard(text: str) -> str:
    """Return the source of a generated module without its runtime version check."""
    return _GUARD.sub("", text)


def main() -> int:
    """Run protoc on every file and strip the guards. Returns the exit code."""
    from grpc_tools import protoc

    files = [str(path.relative_to(ROOT)) for path in sorted(FOLDER.glob("*.proto"))]
    code: int = protoc.main(
        ["protoc", f"-I{ROOT}", f"--python_out={ROOT}", f"--pyi_out={ROOT}", *files]
    )
    if code:
        return code
    for path in sorted(FOLDER.glob("*_pb2.pyi")):
        # mypy --strict wants the arguments of every generic type.
        text = path.read_text(encoding="utf-8").replace("_Mapping]", "_Mapping[str, object]]")
        path.write_text(text, encoding="utf-8")
    for path in sorted(FOLDER.glob("*_pb2.py")):
        path.write_text(without_guard(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
