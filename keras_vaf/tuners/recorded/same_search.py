"""`check_same_search`, which raises if a folder contains a different search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keras_vaf.utils import parse_json, write_atomically

_NAME = "protocol.json"


def is_same_search(folder: Path, protocol: dict[str, Any]) -> bool:
    """Return whether a folder contains a search with these settings.

    Args:
        folder: Folder of the search.
        protocol: Some of the settings that determine the result, as JSON values.
    """
    try:
        found = parse_json((folder / _NAME).read_bytes())
    except (FileNotFoundError, ValueError):
        return False
    asked = json.loads(json.dumps(protocol))
    return isinstance(found, dict) and asked.items() <= found.items()


def check_same_search(folder: Path, protocol: dict[str, Any]) -> None:
    """Write the protocol of a new search, or compare it with the existing protocol.

    Args:
        folder: Folder of the search.
        protocol: All settings that determine the result, as JSON values.

    Raises:
        ValueError: If the folder contains another search.
    """
    path = folder / _NAME
    text = json.dumps(protocol, indent=1) + "\n"
    if not path.is_file():
        write_atomically(path, text)
        return
    try:
        found = parse_json(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError("It is not an object.")
    except ValueError as error:
        raise ValueError(
            "Expected the complete protocol of a search. Remove the file if the search "
            f"in its folder is the same as this one. Received: {path} ({error})"
        ) from error
    asked = json.loads(text)
    other = [name for name in asked if found.get(name) != asked[name]]
    if other:
        raise ValueError(
            f"The folder {folder} contains a search that differs in "
            f"{', '.join(other)}: choose another folder, or set `overwrite=True`. "
            f"Received: {', '.join(f'{name}={asked[name]!r}' for name in other)}"
        )
