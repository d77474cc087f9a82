"""The names of what may be chosen in compiling a schema. Imports nothing, so that the command line
checks its options before it imports a compiler."""

from __future__ import annotations

from typing import Literal

DraftName = Literal["4", "6", "7", "2019-09", "2020-12"]
Formats = Literal["enforce", "annotate"]
Integers = Literal["any", "digits"]
Numbers = Literal["any", "plain"]
UnusableTools = Literal["refuse", "omit"]
Escapes = Literal["any", "needed"]
PropertyOrder = Literal["schema", "any"]
AdditionalProperties = Literal["allow", "forbid"]
