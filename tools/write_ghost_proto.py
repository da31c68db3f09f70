"""Write `ghost/recording/ghost_msg.proto` anew from the message classes.

    python tools/write_ghost_proto.py

Run it after a message class changed. Look at the difference before committing it: fields may be
added at the end of a message; anything else breaks the recordings that exist.
"""

from __future__ import annotations

from pathlib import Path

from ghost.recording.descriptor import proto_text

TARGET = Path(__file__).parent.parent / "ghost" / "recording" / "ghost_msg.proto"

if __name__ == "__main__":
    TARGET.write_text(proto_text(), encoding="utf-8")
    print(f"wrote {TARGET}")
