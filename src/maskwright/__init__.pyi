# The public names: a line for each, with the module in which it stands.
from maskwright.errors import BudgetError as BudgetError
from maskwright.errors import GrammarError as GrammarError
from maskwright.errors import InputError as InputError
from maskwright.errors import LimitError as LimitError
from maskwright.errors import MaskwrightError as MaskwrightError
from maskwright.errors import RegexError as RegexError
from maskwright.errors import SchemaError as SchemaError
from maskwright.errors import StructuralTagError as StructuralTagError
from maskwright.errors import UnsatisfiableGrammarError as UnsatisfiableGrammarError
from maskwright.errors import UnsatisfiableSchemaError as UnsatisfiableSchemaError
from maskwright.errors import UnspellableError as UnspellableError
from maskwright.errors import UnsupportedGrammarError as UnsupportedGrammarError
from maskwright.errors import UnsupportedSchemaError as UnsupportedSchemaError
from maskwright.limits import Limits as Limits
from maskwright.mask import *  # noqa: F403 - they are listed there
from maskwright.vocab import Vocabulary as Vocabulary
from maskwright.workbench.answers import ExplainedKeyword as ExplainedKeyword
from maskwright.workbench.answers import Validation as Validation
from maskwright.workbench.answers import explain as explain
from maskwright.workbench.answers import validate as validate

__version__: str
