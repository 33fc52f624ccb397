"""The command measures the chosen cases in a separate process."""

import json

import pytest

from benchmarks.__main__ import main

pytestmark = pytest.mark.backend("tensorflow")


@pytest.mark.needs("jax")
def test_one_case(tmp_path, capsys):
    arguments = ["--quick", "--only", "operation/jax/ReLU", "--output", str(tmp_path)]
    assert main(arguments) == 0
    assert "operation, jax: 1 cases" in capsys.readouterr().out
    written = json.loads((tmp_path / "cpu.json").read_text())
    (result,) = written["results"]
    assert result["activation"]["subject"] == "relu"
    assert len(result["values"]["forward_backward"]) == 2
    assert min(result["values"]["forward_backward"]) > 0
    assert "forward_backward, page faults" in result["values"]
    assert "ReLU" in (tmp_path / "cpu.md").read_text()

    assert main([*arguments, "--missing"]) == 0
    assert "operation" not in capsys.readouterr().out

    (tmp_path / "cpu.md").unlink()
    assert main(["--tables", "--output", str(tmp_path)]) == 0
    assert "ReLU" in (tmp_path / "cpu.md").read_text()


def test_no_case(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--only", "operation/jax/Swish", "--output", str(tmp_path)])
    assert "Received: --only operation/jax/Swish" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
