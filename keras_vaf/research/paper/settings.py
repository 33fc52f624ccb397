"""`with_settings`, which changes fields of a protocol by text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keras_vaf.experiments.protocol import Protocol

_FIXED = ("dataset", "checksum", "task", "variant", "hidden", "replicas")


def with_settings(protocol: Protocol, settings: Sequence[str]) -> Protocol:
    """Return a protocol with new values of some fields.

    A setting is the path of a field and its value in JSON: `"epochs=600"`,
    `"optimizer.arguments.eta_plus=1.2"`, `"rates=[0.001, 0.01]"`. Text needs no
    quotation marks: `"preprocessing.targets=none"`.

    Args:
        protocol: A protocol.
        settings: The settings. Data, activation and widths cannot be changed.

    Raises:
        ValueError: If a setting cannot be read, or the protocol cannot have it.

    Example:

    >>> from keras_vaf.experiments import VARIANTS, Protocol
    >>> protocol = Protocol("wine", "c0ffee", "classification", VARIANTS[0])
    >>> with_settings(protocol, ["epochs=600"]).epochs
    600
    """
    fields = json.loads(json.dumps(asdict(protocol)))
    free = [name for name in fields if name not in _FIXED]
    for setting in settings:
        path, equals, text = setting.partition("=")
        *parents, last = path.split(".")
        place = _place(fields, parents)
        # Arguments that an optimizer has by default are not among the fields.
        known = place is not None and (last in place or parents[-1:] == ["arguments"])
        if not equals or not known or path.split(".")[0] not in free:
            raise ValueError(
                "A setting is the path of a protocol's field and a value, such as "
                "epochs=600 or optimizer.arguments.eta_plus=1.2. "
                f"Fields: {', '.join(free)}. Received: {setting!r}"
            )
        place[last] = _value(text)
    try:
        changed = Protocol.from_dict(fields)
        changed.optimizer.build()
    except (TypeError, AttributeError) as error:
        raise ValueError(
            f"{protocol.optimizer.name} on {protocol.dataset} cannot be trained with "
            f"{', '.join(settings)}. Received: {error}"
        ) from error
    return changed


def _place(fields: dict[str, Any], parents: Sequence[str]) -> Any:
    """Return the dictionary that a path leads to, or `None`."""
    place: Any = fields
    for name in parents:
        place = place.get(name) if isinstance(place, dict) else None
    return place if isinstance(place, dict) else None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
