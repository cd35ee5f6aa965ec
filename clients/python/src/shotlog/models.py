"""What calls answer with. A field that an answer lacks is `UNSET`, which is false."""

from .generated.models import *  # noqa: F403
from .generated.models import __all__ as __all__  # noqa: PLC0414
