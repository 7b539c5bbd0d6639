"""A figure as a document prints it, e.g. "1 246 ± 13", "60-70ns", "0m0,494s", in the unit of the lab."""
import re

# A document's MB is 2^20 bytes; a comma is a decimal point, and a space parts thousands.
SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "Мб": 2**20,
          "MiB": 2**20, "MB/s": 1e6, "1": 1, "k": 1e3, "M": 1e6, "1/s": 1}
PRINTED = re.compile(r"(?P<value>\d[\d ]*(?:[.,]\d+)?)(?:-(?P<to>\d+))? ?(?P<suffix>[^\W\d_]+|%)?(?P<more>\+)?"
                     r"(?: ?± ?(?P<deviation>\d+))?(?:\([+-]\d+%\))?")
MINUTES = re.compile(r"(\d+)m(\d+[.,]\d+)s")
DIGITS = 5   # of a figure in another unit than the printed one


def plain(text):
    value = float(text.replace(" ", "").replace(",", "."))
    return int(value) if value.is_integer() else value


def converted(text, factor):
    if factor == 1:
        return plain(text)
    printed = len(re.sub(r"\D", "", text).lstrip("0"))
    value = float(f"{plain(text) * factor:.{min(max(printed, 1), DIGITS)}g}")
    return int(value) if value.is_integer() else value


def parse(text, unit, printed_in=None):
    """{"value"}, perhaps with the end of a range ("to") and a remark. ValueError if that is no figure."""
    if minutes := MINUTES.fullmatch(text):
        return {"value": round(60 * int(minutes.group(1)) + plain(minutes.group(2)), 3)}
    found = PRINTED.fullmatch(text)
    if not found:
        raise ValueError(f"not a figure: {text!r}")
    suffix = printed_in or found["suffix"]
    factor = 1 if suffix in (None, unit) else SCALES[suffix] / SCALES[unit]
    figure = {"value": converted(found["value"], factor)}
    if found["to"]:
        figure["to"] = converted(found["to"], factor)
    if found["deviation"]:
        figure["remark"] = f"± {found['deviation']}"
    if found["more"]:
        figure["remark"] = "or more"
    return figure
