"""Settings of a run as the library reads them: names with hyphens, values as texts."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from . import _binding


def text_of(name: str, value: Any) -> str:
    """The text of a value as flags and files have it.

    >>> text_of("lr", 0.1), text_of("skip", True), text_of("direction", ["in", "out"]), text_of("dtype", "float64")
    ('0.1', 'on', 'in,out', 'float64')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:  # a number of NumPy or torch
        return text_of(name, value.item())
    if str(value).startswith("torch."):  # torch.float64
        return str(value)[len("torch."):]
    if type(value).__module__ == "torch" and type(value).__name__ == "device":
        return value.type
    raise TypeError(f"the setting {name} has a value of type {type(value).__name__}; give a text, a number or a truth value")


def texts_of(settings: Mapping[str, Any]) -> Dict[str, str]:
    """Python's names and values as the library's: ``weight_decay=5e-4`` is ``weight-decay`` with ``0.0005``.

    Settings that are None are left out.

    >>> texts_of({"weight_decay": 5e-4, "solver": None})
    {'weight-decay': '0.0005'}
    """
    return {name.replace("_", "-"): text_of(name, value) for name, value in settings.items() if value is not None}


def settings_of(model: str = "eignn") -> Dict[str, str]:
    """What each setting of a model means, with its range and default.

    >>> print(settings_of("eignn")["gamma"])
    The contraction factor; a number in (0, 1]; 0.8 by default
    """
    return {
        name.replace("-", "_"): "; ".join(part for part in (text, span, f"{default} by default" if default else "") if part)
        for name, span, text, default in _binding.settings_of(model)
    }
