"""What a folder's search is: a search goes on only if it is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keras_vaf.utils import write_atomically


def keep_protocol(folder: Path, protocol: dict[str, Any], write: bool) -> None:
    """Note what a search is, or refuse to go on with another one.

    Args:
        folder: Folder of the search.
        protocol: What decides its outcome, as JSON can hold it.
        write: Whether to note it where nothing is noted yet.

    Raises:
        ValueError: If the folder holds another search.
    """
    path = folder / "protocol.json"
    text = json.dumps(protocol, indent=1) + "\n"
    if not path.is_file():
        if write:
            write_atomically(path, text)
        return
    found = json.loads(path.read_bytes())
    asked = json.loads(text)
    other = [name for name in asked if found.get(name) != asked[name]]
    if other:
        raise ValueError(
            f"The folder {folder} holds a search that differs in "
            f"{', '.join(other)}: choose another folder, or `overwrite=True`. "
            f"Received: {', '.join(f'{name}={asked[name]!r}' for name in other)}"
        )
