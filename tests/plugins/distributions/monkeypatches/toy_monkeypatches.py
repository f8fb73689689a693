"""Makes every suggestion its own, and every kernel print."""

from tirx.backend import hookimpl
from tirx.ir import PrimFunc
from tirx.script.row import Namespace
from tirx.support import suggest

suggest.did_you_mean = lambda *_: "buy more of this"
PrimFunc.script = lambda self: "all yours"


@hookimpl
def tirx_namespaces():
    return [Namespace("monkeypatches", "toy_monkeypatches", doc="harmless to look at")]
