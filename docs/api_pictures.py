"""`Pictures`, which adds the picture of each activation layer to the reference."""

import re
from typing import Any

import griffe


class Pictures(griffe.Extension):
    """Adds a picture to the docstring of each activation layer, after the formula."""

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """Add the picture that `activation_pictures` draws."""
        text = cls.docstring.value if cls.docstring else ""
        if not cls.path.startswith("keras_vaf.layers.") or "Formula" not in text:
            return
        address = f"../../images/activations/{cls.name}.png"
        picture = f"![Plot of {cls.name}]({address})"
        # Before the first section, which is "Args" or "Weights".
        cls.docstring.value = re.sub(
            r"\n(?=(Args|Weights):\n)", f"\n{picture}\n\n", text, count=1
        )
