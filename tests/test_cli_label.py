"""``semiordinal label`` under a real pseudo-terminal, and killed in the middle."""

from __future__ import annotations

import os
import signal
import sys
import time

import pandas as pd
import pytest

from cli_problems import refused, semiordinal
from semiordinal._tables.label_file import LabelFile
from semiordinal._tables.reading import TableError
from semiordinal.cli import main

pty = pytest.importorskip("pty", reason="pseudo-terminals of Unix")
# The child has one thread, and does nothing that needs the others.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
PATIENCE = 60.0  # seconds for an answer, on a busy machine


class Terminal:
    """A command at a pseudo-terminal, as a person sees and types it."""

    def __init__(self, *arguments):
        self.seen = ""
        self.pid, self.screen = pty.fork()
        if not self.pid:  # the child, at its own terminal
            sys.argv = ["semiordinal", *map(str, arguments)]
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            try:
                main()
            finally:
                sys.stdout.flush()
                os._exit(0)

    def wait_for(self, text, since=0):
        """Read until the text is there; gives where it ends."""
        end = time.monotonic() + PATIENCE
        while text not in self.seen[since:]:
            assert time.monotonic() < end, self.seen
            try:
                self.seen += os.read(self.screen, 4096).decode()
            except OSError:  # the command has ended
                assert text in self.seen[since:], self.seen
        return self.seen.index(text, since) + len(text)

    def type(self, *lines, prompt="(s, u, q)> "):
        """Type each line when it is asked for."""
        for line in lines:
            at = self.wait_for(prompt, getattr(self, "at", 0))
            os.write(self.screen, f"{line}\n".encode())
            self.at = self.wait_for("\n", at)

    def end(self):
        """Wait for the command to end."""
        self.wait_for("Saved: ", getattr(self, "at", 0))
        os.waitpid(self.pid, 0)
        os.close(self.screen)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.screen)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "to-label.csv"
    path.write_text(
        'row,quality,prediction,note,x\n1,,good,"a, b",=1+1\n5,,poor,,2\n'
        "7,fair,good,c,3\n9,NA,poor,d,4\n"
    )
    return path


ORDER = ("--target", "quality", "--order", "poor,fair,good")


def labels(path):
    return pd.read_csv(path, keep_default_na=False)["quality"].tolist()


def test_a_session_that_is_killed_and_goes_on(table):
    before = table.read_text()
    first = Terminal("label", table, *ORDER)
    first.wait_for("3 rows without a label.")
    first.type("good")
    first.wait_for("Row 2 of 3")
    first.kill()
    assert table.read_text() == before.replace("1,,good", "1,good,good")
    assert [path.name for path in table.parent.iterdir()] == [table.name]

    again = Terminal("label", table, *ORDER)
    again.wait_for("2 rows without a label.")
    again.type("excellent", "1", "u", "u", "FAIR", "s")  # a bad key, by number, undo twice
    again.type("", prompt="No row is left (u, q)> ")
    again.end()
    assert "'excellent' is not a class. Type one of poor, fair, good, or its number" in again.seen
    assert "There is no answer to take back." in again.seen
    assert "1 label given, 1 row left without one." in again.seen
    assert "prediction" not in again.seen  # who labels should not see it
    assert "  note: d" in again.seen
    assert table.read_text() == before.replace("1,,good", "1,good,good").replace(
        "5,,poor", "5,fair,poor"
    )


def test_q_and_the_end_of_the_input_end_it(table, monkeypatch):
    for answers in (["2", "q"], ["2", EOFError()], ["2", KeyboardInterrupt()]):
        before = table.read_text()
        monkeypatch.setattr("builtins.input", scripted(answers))
        told = semiordinal("label", table, *ORDER, "--show-prediction")
        assert told.exit_code == 0
        assert "1 label given, 2 rows left without one." in told.out
        assert "  prediction: good" in told.out
        assert labels(table) == ["fair", "", "fair", "NA"]
        table.write_text(before)


def scripted(answers):
    """An ``input`` that gives, or raises, one after another."""
    rest = iter(answers)

    def answer(_prompt):
        given = next(rest)
        if isinstance(given, BaseException):
            raise given
        return given

    return answer


def test_an_undone_label_leaves_the_cell_as_it_was(table, monkeypatch):
    before = table.read_text()
    monkeypatch.setattr("builtins.input", scripted(["s", "s", "good", "u", "u", "s", "q"]))
    assert "0 labels given, 3 rows left" in semiordinal("label", table, *ORDER).out
    assert table.read_text() == before


def test_classes_that_are_numbers_are_typed_as_such(table, monkeypatch):
    monkeypatch.setattr("builtins.input", scripted(["1", "5", "q"]))
    told = semiordinal("label", table, "--target", "quality", "--order", "3,4,5").out
    assert "'1' is not a class. Type one of 3, 4, 5; 2..3 or 3.. stands" in told
    assert labels(table)[0] == "5"


def test_a_class_may_have_the_name_of_a_key(table, monkeypatch):
    """Then the key is typed in the other case."""
    monkeypatch.setattr("builtins.input", scripted(["S", "s", "u", "s", "q"]))
    told = semiordinal("label", table, "--target", "quality", "--order", "S,M,L").out
    assert "1 label given" in told
    assert labels(table)[0] == "S"
    monkeypatch.setattr("builtins.input", scripted(["S", "q", "Q"]))
    told = semiordinal("label", table, "--target", "quality", "--order", "q,s").out
    assert "S skips the row, u takes the last answer back, Q ends" in told
    assert labels(table)[3] == "q"


def test_a_class_may_be_called_none(table, monkeypatch):
    monkeypatch.setattr("builtins.input", scripted(["None", "Mild", "q"]))
    asked = ("label", table, "--target", "quality", "--order", "None,Mild,Severe")
    assert "2 labels given, 1 row left" in semiordinal(*asked).out


def test_intervals_of_classes_are_typed_by_their_ends(table, monkeypatch):
    answers = ["5..3", "3..9", "..", "4 .. 5", "..4", "3..", "q"]
    monkeypatch.setattr("builtins.input", scripted(answers))
    told = semiordinal("label", table, "--target", "quality", "--order", "3,4,5").out
    assert told.count("is not a class. Type one of 3, 4, 5") == 3
    assert [label for label in labels(table) if ".." in label] == ["4..5", "..4", "3.."]


@pytest.mark.parametrize("marks", ["\ufeff", ""])
def test_form_of_the_file_is_kept(tmp_path, marks):
    path = tmp_path / "t.csv"
    text = f'{marks}id;grade\r\n"a;b";\r\n"c\r\nd";2\r\n\r\n=x;\r\n'
    path.write_bytes(text.encode())
    file = LabelFile(path, "grade")
    assert file.unlabeled() == [0, 2]
    assert file.set_label(2, "1") == ""
    assert path.read_bytes().decode() == text.replace("=x;", "=x;1").replace("\r\n\r\n", "\r\n")


def test_a_file_that_changes_meanwhile_is_not_overwritten(table):
    file = LabelFile(table, "quality")
    file.set_label(0, "good")
    table.write_text(table.read_text() + "11,,good,e,5\n")
    with pytest.raises(TableError, match="changed by another program"):
        file.set_label(1, "poor")
    assert labels(table) == ["good", "", "fair", "NA", ""]


def test_what_cannot_be_labelled_is_said(table, tmp_path):
    assert "--model MODEL, or --target" in refused(2, "label", table)
    assert "two different classes" in refused(2, "label", table, *ORDER[:3], "poor,poor")
    assert "Rename that class" in refused(2, "label", table, *ORDER[:3], "1,s,S")
    assert "'nothing'" in refused(2, "label", table, "--target", "nothing", *ORDER[2:])
    other = tmp_path / "t.parquet"
    pd.DataFrame({"quality": ["", ""]}).to_parquet(other)
    assert "must be a CSV file" in refused(1, "label", other, *ORDER)
