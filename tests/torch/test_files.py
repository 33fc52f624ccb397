"""A file of VAFs makes a module again that computes the same, or changes nothing."""

import copy

import pytest
import torch
from torch import nn

import keras_vaf
from keras_vaf.torch import VAF, load_vafs, save_vafs

pytestmark = pytest.mark.backend("torch")
X = torch.randn(7, 4)


class Block(nn.Module):
    """Two paths to one activation, one with settings, one per channel."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 6), nn.Linear(6, 3)
        self.one = self.same = nn.GELU()
        self.elu, self.slopes = nn.ELU(0.5), nn.PReLU(6)

    def forward(self, x):
        x = self.slopes(self.one(self.first(x)))
        return self.last(self.elu(self.same(x)))


def trained(**words):
    """A converted module whose VAFs are no longer their starts."""
    torch.manual_seed(0)
    base = Block()
    module = keras_vaf.convert(base, data=X, **words)
    for vaf in (each for each in module.modules() if isinstance(each, VAF)):
        with torch.no_grad():
            vaf.weight.add_(0.1 * torch.randn_like(vaf.weight))
    return base, module


# Names that `torch.compile`, DistributedDataParallel and PEFT have for a module.
@pytest.mark.parametrize("wrapper", ["", "_orig_mod", "module", "base_model"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_file_makes_the_module_again(tmp_path, wrapper, dtype):
    base, module = trained()
    path = tmp_path / "vafs.safetensors"
    saved = nn.ModuleDict({wrapper: module}) if wrapper else module
    if wrapper == "base_model":
        saved.get_base_model = lambda: module
    save_vafs(saved, path)
    again = copy.deepcopy(base).to(dtype)
    found = load_vafs(again, path)
    assert found["elu"] == "ELU -> VAF"
    assert again.one is again.same
    assert {p.dtype for p in again.parameters()} == {dtype}
    expected = copy.deepcopy(module).to(dtype)
    assert torch.equal(again(X.to(dtype)), expected(X.to(dtype)))
    with torch.no_grad():
        for vaf in (each for each in again.modules() if isinstance(each, VAF)):
            vaf.weight.zero_()
    parameters = [*again.parameters()]
    load_vafs(again, path)
    assert torch.equal(again(X.to(dtype)), expected(X.to(dtype)))
    assert all(a is b for a, b in zip(parameters, again.parameters(), strict=True))


def broken(path, content):
    path.write_bytes(content)
    return path


class Other(Block):
    def __init__(self):
        super().__init__()
        self.elu = nn.ELU(0.25)


class Missing(Block):
    def __init__(self):
        super().__init__()
        del self.elu


class Linear(Block):
    def __init__(self):
        super().__init__()
        self.elu = nn.Linear(6, 6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Other, r"'ELU\(alpha=0.5\)'.* Received: ELU\(alpha=0.25"),
        (Missing, "At 'elu', .* Received: nothing"),
        (Linear, r"Received: Linear\("),
        (lambda: trained(k=5)[1], r"Received: VAF\(k=5"),
        (lambda: nn.Sequential(VAF(), Block()), "Received: nothing"),
    ],
)
def test_another_module_is_refused_and_left_as_it_was(tmp_path, make, message):
    path = tmp_path / "vafs.safetensors"
    save_vafs(trained()[1], path)
    module = make()
    before, parts = copy.deepcopy(module.state_dict()), [*module.modules()]
    with pytest.raises(ValueError, match=message):
        load_vafs(module, path)
    assert [*module.modules()] == parts
    after = module.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_other_files_are_refused(tmp_path):
    from safetensors.torch import save

    base, module = trained()
    path = tmp_path / "vafs.safetensors"
    save_vafs(module, path)
    content = path.read_bytes()
    newer = content.replace(b'version\\": 1', b'version\\": 2')
    for other, message in (
        (content[:-9], "version unknown, "),
        (b"", "Expected a complete file of `save_vafs`.* version unknown, "),
        (save({"x": X}), "version None"),
        (newer, "newer keras_vaf.* version 2"),
    ):
        with pytest.raises(ValueError, match=message):
            load_vafs(base, broken(path, other))
    with pytest.raises(FileNotFoundError):
        load_vafs(base, tmp_path / "none")
    with pytest.raises(ValueError, match="holds no code"):
        save_vafs(nn.Sequential(VAF(g=lambda x: x * x)), path)


def test_the_report_says_what_does_not_keep_vafs():
    class Hub(Block):
        def save_pretrained(self, path):
            pass

    notes = keras_vaf.models.report(keras_vaf.convert(Hub(), data=X)).notes
    assert any("`save_pretrained` of this module does not" in each for each in notes)
    notes = keras_vaf.models.report(keras_vaf.convert(Block(), data=X)).notes
    assert not any("save_pretrained" in each for each in notes)
