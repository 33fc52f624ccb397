"""Every public name is documented, typed and has its place on an API page."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import keras_vaf

pytestmark = pytest.mark.backend("tensorflow")

PAGES = Path(__file__).parents[1] / "docs" / "api"


def public_names():
    """Return every object that a package's `__all__` names, by its dotted name."""
    packages = (
        importlib.import_module(f"keras_vaf.{module.name}")
        for module in pkgutil.iter_modules(keras_vaf.__path__)
        if module.ispkg
    )
    return {
        f"{package.__name__}.{name}": getattr(package, name)
        for package in packages
        for name in package.__all__
    }


def shown_names():
    """Return what the API pages show; a package stands for all of its `__all__`."""
    pages = (page.read_text(encoding="utf-8") for page in PAGES.rglob("*.md"))
    return {name for page in pages for name in re.findall(r"^::: (\S+)", page, re.M)}


def own_functions(value):
    """Return a function itself, or the public methods that a class defines."""
    if inspect.isfunction(value):
        return [value]
    members = [member for name, member in vars(value).items() if name[0] != "_"]
    return [
        member.fget if isinstance(member, property) else member
        for member in members
        if inspect.isfunction(member) or isinstance(member, property)
    ]


def untyped(function):
    """Return the parameters of a function that have no type hint."""
    signature = inspect.signature(function)
    hints = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    }
    hints["return"] = signature.return_annotation
    return [
        name
        for name, hint in hints.items()
        if hint is signature.empty and name != "self"
    ]


PUBLIC = public_names()
CODE = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isclass(value) or inspect.isfunction(value)
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_stands_on_an_api_page(name):
    assert shown_names() & {name, name.rpartition(".")[0]}


@pytest.mark.parametrize("name", CODE)
def test_a_public_name_has_a_docstring_of_its_own(name):
    assert CODE[name].__doc__


@pytest.mark.parametrize("name", CODE)
def test_a_public_name_has_type_hints(name):
    for function in own_functions(CODE[name]):
        assert untyped(function) == [], function.__qualname__


def test_a_missing_type_hint_is_seen():
    def half_typed(x, y: int):
        return x + y

    assert untyped(half_typed) == ["x", "return"]
