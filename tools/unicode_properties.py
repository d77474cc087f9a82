"""Write src/maskwright/grammar/pattern/unicode_properties.json: scripts and binary properties.

The standard library has only the general categories. `\\p{Script=…}`, `\\p{Emoji}` and other
properties are read from a file of ranges, which this script derives from the tables of the `regex`
package (the Unicode Character Database, in the version that it names). Run it after an update of
`regex`:

    python tools/unicode_properties.py [--out FILE]

A set is written as numbers in base 36, separated by spaces. From U+0000 on they say in turn how
many code points are not in the set, and how many are.
"""

from __future__ import annotations

import argparse
import json
import re
from importlib.metadata import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import regex
from regex import _regex

FILE = Path(__file__).parents[1] / "src/maskwright/grammar/pattern/unicode_properties.json"
SOURCE = "Unicode Character Database, © Unicode, Inc. (https://www.unicode.org/license.txt)"
EVERY_CHARACTER = "".join(map(chr, range(0x110000)))
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

SPELLED = (
    "Anatolian_Hieroglyphs Bassa_Vah Beria_Erfe Canadian_Aboriginal Caucasian_Albanian "
    "Cypro_Minoan Dives_Akuru Egyptian_Hieroglyphs Gunjala_Gondi Gurung_Khema Hanifi_Rohingya "
    "Imperial_Aramaic Inscriptional_Pahlavi Inscriptional_Parthian Kayah_Li Khitan_Small_Script "
    "Kirat_Rai Linear_A Linear_B Masaram_Gondi Meetei_Mayek Mende_Kikakui Meroitic_Cursive "
    "Meroitic_Hieroglyphs Nag_Mundari New_Tai_Lue Nyiakeng_Puachue_Hmong Ol_Chiki Ol_Onal "
    "Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian "
    "Old_South_Arabian Old_Turkic Old_Uyghur Pahawh_Hmong Pau_Cin_Hau Phags_Pa Proto_Cuneiform "
    "Psalter_Pahlavi SignWriting Sora_Sompeng Syloti_Nagri Tai_Le Tai_Tham Tai_Viet Tai_Yo "
    "Tolong_Siki Tulu_Tigalari Warang_Citi Zanabazar_Square"
)
"""The names of scripts that are not one capital followed by small letters. `regex` gives all names
in capitals, so that their spelling has to be known."""

BINARY = {
    "AHex": "ASCII_Hex_Digit",
    "Alpha": "Alphabetic",
    "Bidi_C": "Bidi_Control",
    "Bidi_M": "Bidi_Mirrored",
    "CI": "Case_Ignorable",
    "Cased": "Cased",
    "CWCF": "Changes_When_Casefolded",
    "CWCM": "Changes_When_Casemapped",
    "CWL": "Changes_When_Lowercased",
    "CWT": "Changes_When_Titlecased",
    "CWU": "Changes_When_Uppercased",
    "Dash": "Dash",
    "DI": "Default_Ignorable_Code_Point",
    "Dep": "Deprecated",
    "Dia": "Diacritic",
    "EBase": "Emoji_Modifier_Base",
    "EComp": "Emoji_Component",
    "EMod": "Emoji_Modifier",
    "EPres": "Emoji_Presentation",
    "Emoji": "Emoji",
    "Ext": "Extender",
    "ExtPict": "Extended_Pictographic",
    "Gr_Base": "Grapheme_Base",
    "Gr_Ext": "Grapheme_Extend",
    "Hex": "Hex_Digit",
    "IDC": "ID_Continue",
    "IDS": "ID_Start",
    "IDSB": "IDS_Binary_Operator",
    "IDST": "IDS_Trinary_Operator",
    "Ideo": "Ideographic",
    "Join_C": "Join_Control",
    "LOE": "Logical_Order_Exception",
    "Lower": "Lowercase",
    "Math": "Math",
    "NChar": "Noncharacter_Code_Point",
    "Pat_Syn": "Pattern_Syntax",
    "Pat_WS": "Pattern_White_Space",
    "QMark": "Quotation_Mark",
    "RI": "Regional_Indicator",
    "Radical": "Radical",
    "SD": "Soft_Dotted",
    "STerm": "Sentence_Terminal",
    "Term": "Terminal_Punctuation",
    "UIdeo": "Unified_Ideograph",
    "Upper": "Uppercase",
    "VS": "Variation_Selector",
    "XIDC": "XID_Continue",
    "XIDS": "XID_Start",
    "space": "White_Space",
}
"""ECMA-262's binary properties, short name to long, but for `ASCII`, `Any` and `Assigned`, which
need no table, and `Changes_When_NFKC_Casefolded`, which `regex` doesn't have."""


def main() -> None:
    """Derive the tables and write them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=FILE, help="default: the package's file")
    out: Path = parser.parse_args().out
    summary = metadata("regex")["Description"]
    version = re.search(r"supports Unicode (\d+\.\d+\.\d+)", summary)
    assert version is not None, "regex no longer says which Unicode it has"
    aliases = script_names()
    binary = {long: ranges(rf"\p{{{long}}}") for long in sorted(BINARY.values())}
    binary_aliases = {short: long for short, long in BINARY.items() if short != long}
    scripts = {long: ranges(rf"\p{{sc={long}}}") for long in sorted(set(aliases.values()))}
    extended = {long: ranges(rf"\p{{scx={long}}}") for long in scripts}
    found = {
        "unicode": version[1],
        "source": SOURCE,
        "binary_aliases": binary_aliases,
        "binary": binary,
        "script_aliases": {short: long for short, long in aliases.items() if short != long},
        "scripts": scripts,
        "script_extensions": {n: text for n, text in extended.items() if text != scripts[n]},
    }
    out.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{out.name}: Unicode {version[1]}, {out.stat().st_size:,} bytes")


def script_names() -> dict[str, str]:
    """Every name of a script, long or short, with its long name; both in Unicode's spelling."""
    spelled = {name.replace("_", "").upper(): name for name in SPELLED.split()}
    names: dict[int, list[str]] = {}
    properties: Any = _regex.get_properties()  # pyright: ignore[reportAttributeAccessIssue] - not in stubs
    scripts: dict[str, int] = properties["SCRIPT"][1]
    for name, number in scripts.items():
        names.setdefault(number, []).append(spelled.get(name, name.capitalize()))
    del names[scripts["HRKT"]]  # no character has it
    return {name: group[0] for group in names.values() for name in group}


def ranges(pattern: str) -> str:
    ends = [0]
    for match in regex.finditer(f"{pattern}+", EVERY_CHARACTER):
        ends += match.span()
    return " ".join(base36(high - low) for low, high in pairwise(ends))


def base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
    return digits or "0"


if __name__ == "__main__":
    main()
