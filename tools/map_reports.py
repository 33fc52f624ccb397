"""Pack the reports of the map for version control, and restore them.

- `python -m tools.map_reports pack runs/map` writes one file per task,
  `docs/reports/map/TASK-DIGEST.json.gz`, from which the page of the map is made.
- `python -m tools.map_reports restore runs/map` writes the reports that the folder
  lacks, so that `keras-vaf map --output runs/map` trains only what no report has.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from keras_vaf.research.map.report import pack, unpack

PACKED = Path("docs/reports/map")


def pack_tasks(root: Path, packed: Path) -> dict[str, int]:
    """Write one file per folder of a task, and return the numbers of reports.

    Args:
        root: Folder with the reports, `reports` in the output folder of the map.
        packed: Folder of the files.

    Raises:
        ValueError: If the folder has no reports.
    """
    folders = sorted(path.name for path in root.glob("*") if path.is_dir())
    if not folders:
        raise ValueError(f"Expected reports of `keras-vaf map`. Received: {root}")
    packed.mkdir(parents=True, exist_ok=True)
    return {
        folder: pack(root, packed / f"{folder}.json.gz", folder) for folder in folders
    }


def restore_tasks(root: Path, packed: Path) -> dict[str, int]:
    """Write the reports that a folder lacks, and return the numbers of the packed ones.

    Args:
        root: As in `pack_tasks`.
        packed: As in `pack_tasks`.
    """
    return {
        file.name.removesuffix(".json.gz"): unpack(file, root)
        for file in sorted(packed.glob("*.json.gz"))
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.map_reports",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=("pack", "restore"))
    parser.add_argument("folder", type=Path, help="output folder of `keras-vaf map`")
    parser.add_argument("--packed", type=Path, default=PACKED, metavar="FOLDER")
    options = parser.parse_args(argv)
    action = pack_tasks if options.action == "pack" else restore_tasks
    for name, count in action(options.folder / "reports", options.packed).items():
        print(f"{name}: {count} reports")
    return 0


if __name__ == "__main__":
    sys.exit(main())
