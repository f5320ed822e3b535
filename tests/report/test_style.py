import re

import pytest

from escgnn.report.charts import COLOURS
from escgnn.report.style import STYLE

THEMES = re.findall(r":root\{([^}]*)\}", STYLE)


def brightness(colour):
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted((brightness(one), brightness(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=["light", "dark"])
def test_text_is_readable(theme):
    """WCAG AA: 4.5 to 1, on the page and on the shade of good cells."""
    colours = dict(re.findall(r"--(\w+):(#\w{6})", theme))
    texts = ["ink", "quiet", "good", "warn", "link", *(f"c{i}" for i in range(COLOURS))]
    assert {name: c for name in texts if (c := contrast(colours[name], colours["page"])) < 4.5} == {}
    assert all(contrast(colours[name], colours["wash"]) >= 4.5 for name in ("ink", "quiet", "good"))


def test_there_are_two_themes_and_braces_match():
    assert len(THEMES) == 2
    assert STYLE.count("{") == STYLE.count("}")
