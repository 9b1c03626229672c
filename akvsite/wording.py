"""How long a statement is: what it takes to say something, and to be quoted; and how a count is said."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")

#: A falsifiable statement has a subject and what it predicts of it.
FEWEST_TO_CLAIM = 4
#: So few words stand on a page that quotes nobody: two or three of a subject alone ("The engine") on most of them.
FEWEST_TO_QUOTE = 6
#: Scripts without spaces between words: so many of their letters count as one.
_LETTERS_A_WORD = 2


def words(text: str) -> int:
    """How many words a text has. In scripts that set no spaces, letters are counted.

    >>> words("Copies run while kernels run."), words("複製は計算と同時に進む")
    (5, 5)
    """
    return sum(max(1, _letters(word) // _LETTERS_A_WORD) for word in _WORD.findall(text))


def _letters(word: str) -> int:
    """Letters of scripts without capitals."""
    return sum(unicodedata.category(char) == "Lo" for char in word)


def number_of(count: int, what: str, several: str = "") -> str:
    """A count with its noun.

    >>> number_of(1, "run"), number_of(1_700, "step")
    ('1 run', '1,700 steps')
    """
    return f"{count:,} {what if count == 1 else several or what + 's'}"
