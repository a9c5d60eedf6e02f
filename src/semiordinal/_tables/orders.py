"""Orders of names that everyone knows: grades, stages, sizes, frequencies, numerals."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any

# From low to high; what stands in one place means the same.
_SCALES = tuple(
    tuple(tuple(place.split("/")) for place in scale.split(" < "))
    for scale in (
        "worst/terrible/awful < very poor/very bad < poor/bad < below average < fair/average/ok/"
        "okay/satisfactory/acceptable < above average < good < very good/vgood < excellent < "
        "outstanding/best",
        "none/zero/absent < very low/lowest/minimal < low < below average < medium/mid/middle/"
        "moderate/average/normal < above average/elevated < high < very high/highest < "
        "extreme/critical",
        "none/no/absent/normal/healthy < minimal/trivial/very mild < mild/minor/slight/light < "
        "moderate < serious/severe/major < very severe < critical/extreme < fatal/dead/death",
        "strongly disagree/completely disagree < disagree < somewhat disagree/slightly disagree < "
        "neutral/undecided/neither agree nor disagree < somewhat agree/slightly agree < agree < "
        "strongly agree/completely agree",
        "very dissatisfied/very unsatisfied < dissatisfied/unsatisfied < neutral < satisfied < "
        "very satisfied",
        "very unlikely < unlikely < neutral/possible < likely < very likely",
        "never < almost never/hardly ever/very rarely < rarely/seldom < sometimes/occasionally < "
        "often/frequently < very often/usually < almost always/nearly always < always",
        "never < yearly/annually < quarterly < monthly < weekly < daily < hourly",
        "xxxs < xxs < xs/extra small < s/small < m/medium < l/large < xl/extra large < xxl < xxxl",
        "tiny/very small < small < medium/mid/middle < large/big < very large/huge",
        "f < e < d- < d < d+ < c- < c < c+ < b- < b < b+ < a- < a < a+",
        "d < c < cc < ccc < b < bb < bbb < a < aa < aaa",
        "very easy < easy < medium/moderate < hard/difficult < very hard/very difficult",
        "novice < beginner < intermediate < advanced < expert",
        "freezing < very cold < cold < cool < mild < warm < hot < very hot",
        "zero < one < two < three < four < five < six < seven < eight < nine < ten",
        "first < second < third < fourth < fifth < sixth < seventh < eighth < ninth < tenth",
        "bronze < silver < gold < platinum",
        "primary < secondary < tertiary",
        "no/false/negative/absent < yes/true/positive/present",
    )
)
_RANKS = [{word: rank for rank, words in enumerate(scale) for word in words} for scale in _SCALES]
_ROMAN = {
    numeral: value
    for value, numeral in enumerate(
        ("0", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
    )
}
_STAGE = re.compile(r"(?P<name>[a-z]+[ _-])?(?P<numeral>0|[ivx]+)(?P<part>[a-d]?)(?P<sub>[12]?)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NUMBERED = re.compile(r"(\d+)\s*[.):=]\s*\D")
_RANGE = re.compile(
    r"(?P<below><=?|under |below |up to |less than )?(?P<above>>=?|over |above |more than )?"
    r"(?P<low>\d+(?:\.\d+)?)(?:\s*(?:-|–|to)\s*(?P<high>\d+(?:\.\d+)?))?(?P<plus>\s*\+)?"
    r"(?P<unit>\D*)"
)


def suggest_order(names: Collection[str]) -> list[str] | None:
    """The order of classes, if it is one that everyone knows; else None.

    Examples
    --------
    >>> suggest_order({"medium", "high", "low"})
    ['low', 'medium', 'high']
    >>> suggest_order({"stage 10", "stage 9"}), suggest_order({"Stage II", "Stage I", "Stage IIIa"})
    (['stage 9', 'stage 10'], ['Stage I', 'Stage II', 'Stage IIIa'])
    >>> suggest_order({"Fair", "Good", "Premium"})
    """
    for keys in (*(_on_scale(names, ranks) for ranks in _RANKS), _stages(names), _numbers(names)):
        if keys and len(set(keys.values())) == len(names):
            return sorted(names, key=lambda name: keys[name])
    return None


def _words(name: str) -> str:
    return name.lower().strip()


def _on_scale(names: Collection[str], ranks: dict[str, int]) -> dict[str, Any] | None:
    """Places of the names on a scale; None unless all are on it."""
    places = {}
    for name in names:
        word = _words(name)
        rank = ranks.get(word, ranks.get(re.sub(r"[_\s-]+", " ", word)))
        if rank is None:
            return None
        places[name] = rank
    # Letters alone may be anything, unless some tell that they are school grades or ratings.
    single = [name for name in map(_words, names) if len(name) == 1]
    return None if len(single) == len(names) and not {"f", "s"} & set(single) else places


def _stages(names: Collection[str]) -> dict[str, Any] | None:
    """Roman numerals, with the same word before them or none."""
    found = {name: _STAGE.fullmatch(_words(name)) for name in names}
    keys = {}
    for name, match in found.items():
        if not match or match["numeral"] not in _ROMAN:
            return None
        keys[name] = (_ROMAN[match["numeral"]], match["part"], match["sub"])
    same_name = len({match["name"] for match in found.values() if match}) == 1
    return keys if same_name and any(value == 1 for value, *_ in keys.values()) else None


def _numbers(names: Collection[str]) -> dict[str, Any] | None:
    """Names that are the same but for numbers in them, or ranges of numbers."""
    templates = {_NUMBER.sub("#", _words(name)) for name in names}
    if len(templates) == 1 and "#" in templates.copy().pop():
        return {name: tuple(map(float, _NUMBER.findall(name))) for name in names}
    numbered = {name: _NUMBERED.match(name.strip()) for name in names}
    if all(numbered.values()):
        return {name: int(match[1]) for name, match in numbered.items() if match}
    keys, units = {}, set()
    for name in names:
        match = _RANGE.fullmatch(_words(name))
        if not match:
            return None
        side = -1 if match["below"] else 1 if match["above"] or match["plus"] else 0
        keys[name] = (float(match["low"]), side)
        units.add(match["unit"].strip())
    return keys if len(units - {""}) <= 1 else None


def order_option(classes: Sequence[Any]) -> str:
    """The option for this order, ready to be pasted into a shell.

    Examples
    --------
    >>> print(order_option(["low", "high"]))
    --order low,high
    >>> print(order_option(["quite low", "$high"]))
    --order 'quite low,$high'
    """
    return f"--order {shlex.quote(','.join(map(str, classes)))}"


def mend_order(order: Sequence[str], labels: Collection[str]) -> list[str] | None:
    """The order with names as the table writes them, where it is plain which is meant.

    Examples
    --------
    >>> mend_order(["Mild", "modrate", "severe"], ["mild", "moderate", "severe"])
    ['mild', 'moderate', 'severe']
    >>> mend_order(["mild", "severe"], ["mild", "moderate", "severe"])
    """
    open_labels = [label for label in labels if label not in order]
    mended = []
    for name in order:
        if name not in labels:
            by_lower = {label.casefold(): label for label in open_labels}
            near = get_close_matches(name.casefold(), by_lower, n=1, cutoff=0.6)
            if near:
                open_labels.remove(by_lower[near[0]])
                mended.append(by_lower[near[0]])
                continue
        mended.append(name)
    return None if open_labels or mended == list(order) else mended
