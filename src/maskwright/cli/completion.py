"""Print a script with which a shell completes commands, options and their values.

`source <(maskwright completion bash)` in `~/.bashrc`; `source <(maskwright completion zsh)` in
`~/.zshrc`, after `compinit`; `maskwright completion fish | source` in `~/.config/fish/config.fish`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from maskwright.cli.arguments import Argument

Shell: TypeAlias = Literal["bash", "zsh", "fish"]


@dataclass(frozen=True, slots=True)
class CompletionOptions:
    """What `maskwright completion` is given."""

    shell: Annotated[Shell, Argument(help="The shell: bash, zsh or fish.")]
