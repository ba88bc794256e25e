"""Words of others, made fit to be shown: nothing in them reaches a terminal but characters. Pure.

Control characters would move its cursor and line breaks forge lines; marks of the direction of
writing show a text as another one.
"""


def printable(text: str) -> str:
    """The text on one line: white space as single spaces, what is not printed as an escape."""
    return escaped(" ".join(text.split()))


def escaped(text: str) -> str:
    """The text with an escape sequence of Python's for each character that is not printed."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escape(one) for one in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()
