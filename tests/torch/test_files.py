"""A file of VAFs makes a module again that computes the same, or changes nothing."""

import copy

import pytest
import torch
from torch import nn

import keras_vaf
from keras_vaf.torch import VAF, load_vafs, save_vafs

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
        vaf.weight.data.add_(0.1 * torch.randn_like(vaf.weight))
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
    again = copy.deepcopy(base).to(dtype).eval()
    found = load_vafs(again, path)
    assert not any(part.training for part in again.modules())
    assert found["elu"] == "ELU -> VAF" and again.one is again.same
    assert {p.dtype for p in again.parameters()} == {dtype}
    expected = copy.deepcopy(module).to(dtype)
    assert torch.equal(again(X.to(dtype)), expected(X.to(dtype)))
    for vaf in (each for each in again.modules() if isinstance(each, VAF)):
        vaf.weight.data.zero_()
    parameters = [*again.parameters()]
    load_vafs(again, path)
    assert torch.equal(again(X.to(dtype)), expected(X.to(dtype)))
    assert all(a is b for a, b in zip(parameters, again.parameters(), strict=True))


def changed(**parts):
    module = Block()
    for name, part in parts.items():
        setattr(module, name, part)
    return module


def sharded(module):
    """Return a module with the mark of weights that `fully_shard` has sharded."""
    for weight in module.parameters():
        weight.full_tensor = None
    return module


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: changed(elu=nn.ELU(0.25)),
            r"'ELU\(alpha=0.5\)'.* Received: ELU\(alpha=0.25",
        ),
        (lambda: changed(elu=None), "At 'elu', .* Received: nothing"),
        (lambda: changed(elu=nn.Linear(6, 6)), r"Received: Linear\("),
        (lambda: trained(k=5)[1], r"Received: VAF\(k=5"),
        (lambda: changed(slopes=VAF(unshared=(5,))), r"unshared=\(5,\)"),
        (lambda: changed(more=VAF()), "no VAFs but those of the file"),
        (lambda: changed().to("meta"), "weights in memory"),
        (lambda: sharded(Block()), "weights in memory"),
        (lambda: changed(one=VAF(g="gelu", device="meta")), "weights in memory"),
    ],
)
def test_another_module_is_refused_and_left_as_it_was(tmp_path, make, message):
    path, module = tmp_path / "vafs.safetensors", make()
    save_vafs(trained()[1], path)
    before, parts = copy.deepcopy(module.state_dict()), [*module.modules()]
    with pytest.raises(ValueError, match=message):
        load_vafs(module, path)
    assert [*module.modules()] == parts
    after = module.state_dict()
    assert all(t.is_meta or t.equal(before[name]) for name, t in after.items())


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
        path.write_bytes(other)
        with pytest.raises(ValueError, match=message):
            load_vafs(base, path)
    with pytest.raises(FileNotFoundError):
        load_vafs(base, tmp_path / "none")
    for vaf, message in (
        (VAF(g=lambda x: x * x), "holds no code"),
        (VAF(device="meta"), "weights in memory"),
    ):
        with pytest.raises(ValueError, match=message):
            save_vafs(nn.Sequential(vaf), path)


def test_tied_and_parametrized_weights(tmp_path):
    """A file holds the numbers that a module computes with, and tied ones once."""
    module = nn.Sequential(nn.Linear(4, 4), VAF(), nn.Linear(4, 4), VAF(), VAF())
    again = nn.Sequential(module[0], nn.ReLU(), module[2], nn.ReLU(), nn.ReLU())
    module[3].weight, path = module[1].weight, tmp_path / "vafs.safetensors"
    nn.utils.parametrize.register_parametrization(module[4], "weight", nn.Tanh())
    save_vafs(module, path)
    load_vafs(again, path)
    assert torch.equal(again(X), module(X)) and again[1] is again[3] is not again[4]
    with pytest.raises(ValueError, match=r"Received: ParametrizedVAF"):
        load_vafs(module, path)
    nn.utils.parametrize.remove_parametrizations(module[4], "weight")
    again[3].weight.data.zero_()
    save_vafs(again, path)
    load_vafs(module, path)
    assert module[3].weight is module[1].weight and not module[1].weight.any()


def test_the_report_says_what_does_not_keep_vafs():
    peft = type("LoraModel", (Block,), {"__module__": "peft.tuners.lora"})
    for module, said in (
        *((changed(save_pretrained=print), True), (peft(), True), (Block(), False)),
    ):
        notes = keras_vaf.models.report(keras_vaf.convert(module, data=X)).notes
        assert any("`save_pretrained` of this module" in n for n in notes) == said
