# The names of this package: a line for each, with the module in which it stands.
from maskwright.engine.config import EngineConfig as EngineConfig
from maskwright.engine.distribution import Distribution as Distribution
from maskwright.engine.request.generation import Generation as Generation
from maskwright.engine.request.request import Completion as Completion
from maskwright.engine.request.request import Delta as Delta
from maskwright.engine.request.request import FinishReason as FinishReason
from maskwright.engine.request.request import Request as Request
from maskwright.engine.request.trace import Trace as Trace
from maskwright.engine.schedule.view import EngineView as EngineView
from maskwright.engine.stats import EngineStats as EngineStats
from maskwright.engine.step.loop import Engine as Engine
from maskwright.sampling import TokenScore as TokenScore
