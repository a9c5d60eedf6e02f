"""Runs the command in this process, as Typer's runner does, but reads its options only once."""

from __future__ import annotations

import functools

import typer.main
import typer.testing

# Typer's own runner makes the commands of their signatures for every run, which takes longer than
# some of the commands do.
typer.testing._get_command = functools.cache(typer.main.get_command)
CommandRunner = typer.testing.CliRunner
