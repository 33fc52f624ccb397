"""Tasks of contributors, in the environment that is active: `nox --list` names them."""

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["check", "test"]


@nox.session
def check(session: nox.Session) -> None:
    """Lint, format, check the spelling and the types."""
    session.run("pre-commit", "run", "--all-files")
    session.run("mypy")


@nox.session
def test(session: nox.Session) -> None:
    """Run the tests, or some of them: `nox -s test -- tests/ops`."""
    session.run("pytest", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Show the site at localhost:8000."""
    session.run("mkdocs", "serve")


@nox.session
def kernels(session: nox.Session) -> None:
    """Compile the native kernels again, after a change of their C++ code."""
    session.run("pip", "install", "--no-deps", "--editable", ".")


@nox.session
def ci(session: nox.Session) -> None:
    """Run every check that must pass before a merge, in fresh environments."""
    session.run("bash", ".ci/run", *session.posargs)
