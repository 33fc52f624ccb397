"""Fields of a protocol that are set by text."""

import pytest

from keras_vaf.experiments import RPROP, Optimizer
from keras_vaf.research.paper import with_settings
from tests.experiments.fakes import make_protocol

pytestmark = pytest.mark.backend("tensorflow")


@pytest.mark.parametrize(
    ("setting", "read"),
    [
        ("epochs=7", lambda protocol: protocol.epochs == 7),
        ("patience=null", lambda protocol: protocol.patience is None),
        ("rates=[0.1, 0.2]", lambda protocol: protocol.rates == (0.1, 0.2)),
        ("preprocessing.inputs=none", lambda p: p.preprocessing.inputs == "none"),
        (
            "preprocessing.categories=number",
            lambda p: p.preprocessing.categories == "number",
        ),
        ("optimizer.name=Adam", lambda p: p.optimizer.name == "Adam"),
        (
            "optimizer.arguments.learning_rate=0.5",
            lambda p: p.optimizer.arguments == {"learning_rate": 0.5},
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "read",
)
def test_a_setting_changes_one_field(setting, read):
    protocol = make_protocol(optimizer=Optimizer("RMSprop"), patience=5)

    changed = with_settings(protocol, [setting])

    assert read(changed)
    assert not read(protocol)
    assert changed.digest != protocol.digest


def test_settings_keep_the_other_arguments():
    protocol = make_protocol(optimizer=RPROP)

    changed = with_settings(
        protocol, ["optimizer.arguments.eta_plus=1.5", "folds=4", "folds=5"]
    )

    assert changed.optimizer.arguments == RPROP.arguments | {"eta_plus": 1.5}
    assert changed.folds == 5
    assert with_settings(protocol, []) == protocol


@pytest.mark.parametrize(
    "setting",
    ["epoch=3", "epochs", "optimizer.momentum=1", "variant.name=x", "hidden=[3]", "="],
)
def test_refuses_what_is_no_setting(setting):
    with pytest.raises(ValueError, match=r"such as epochs=600 .*Received: "):
        with_settings(make_protocol(), [setting])


@pytest.mark.parametrize(
    "setting",
    ["epochs=0", "optimizer.name=Nothing", "optimizer.arguments.nothing=1", "starts=0"],
)
def test_refuses_values_that_cannot_be_trained(setting):
    with pytest.raises(ValueError):
        with_settings(make_protocol(), [setting])
