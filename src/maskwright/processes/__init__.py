"""Grammar work in processes of its own: one shape never harms another.

The engine's process follows what it has learned of a grammar (`follower`). What is new is asked of
a grammar process (`worker`), which is forked from a nursery that has everything loaded.

- `ahead`: Expands a grammar ahead of its texts.
- `connected`: A running grammar process, as the engine's process sees it.
- `follower`: What the engine's process knows of a grammar that lives in a grammar process.
- `learned`: A position of a grammar as far as the engine's process has learned it.
- `lessons`: Answers questions about texts of one grammar, with a matcher a request.
- `messages`: What the engine's process and a grammar process send each other.
- `nest`: The engine's side of the nursery.
- `nursery`: The process from which grammar processes are forked.
- `pool`: The running grammar processes, and which of them has which task.
- `processes`: Starts and replaces grammar processes, and passes jobs and answers on.
- `tasks`: Jobs as the engine's process keeps them, and what it knows a grammar process to hold.
- `text_path`: Positions of a followed grammar, and the way of a text through them.
- `validation`: Checks whole answers again, by means that know nothing of masks.
- `worker`: A grammar process.
"""

from maskwright.processes.follower import FollowedGrammar, Follower
from maskwright.processes.messages import Build, Inquiry
from maskwright.processes.nest import Nursery
from maskwright.processes.processes import GrammarProcesses, ProcessStats

__all__ = [
    "Build",
    "FollowedGrammar",
    "Follower",
    "GrammarProcesses",
    "Inquiry",
    "Nursery",
    "ProcessStats",
]
