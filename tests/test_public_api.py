"""Every public name is documented and typed, and none hides a module."""

import importlib.util
import inspect

import pytest

from tests.harness import public_names

pytestmark = pytest.mark.backend("tensorflow")


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
def test_a_public_name_is_documented_and_typed_and_hides_no_module(name):
    assert importlib.util.find_spec(name) is None
    if name in CODE:
        assert CODE[name].__doc__
        for function in own_functions(CODE[name]):
            assert untyped(function) == [], function.__qualname__


def test_a_missing_type_hint_is_seen():
    def half_typed(x, y: int):
        return x + y

    assert untyped(half_typed) == ["x", "return"]
