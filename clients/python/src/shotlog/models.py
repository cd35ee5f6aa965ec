"""The types of responses. Absent fields are `UNSET`, which is falsy."""

from .generated.models import *  # noqa: F403
from .generated.models import __all__ as __all__  # noqa: PLC0414
