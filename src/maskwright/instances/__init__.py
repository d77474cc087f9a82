"""Whether values are instances of a schema, judged by means that know nothing of masks.

- `check`: Checks JSON texts with the package `jsonschema`.
"""

from maskwright.instances.check import InstanceCheck, NotJsonError, UndecidedError

__all__ = ["InstanceCheck", "NotJsonError", "UndecidedError"]
