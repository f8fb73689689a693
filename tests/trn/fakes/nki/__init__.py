"""A package in the place of AWS's `nki`, with its documented entry points: `jit`, `simulate`, `nki.isa`, `nki.language`.

A kernel of `jit` runs when there is a device (`NEURON_DEVICE=1` stands for one), on NumPy arrays or on tensors of the XLA device; without
one it refuses. `simulate(kernel)` runs on the host.
What ran where is told on standard output; `tests.trn.nki_numpy` computes.
"""

import json
import os
import sys

import numpy as np

from tests.trn import nki_numpy
from tests.trn.nki_numpy import isa, language
from tests.trn.nki_numpy.state import machine

sys.modules["nki.isa"], sys.modules["nki.language"] = isa, language
__version__ = "0.6.0+fake"
_GENERATIONS = {"trn1": "v2", "trn2": "v3", "trn3": "v4"}


class Kernel:
    """What `jit` answers."""

    def __init__(self, function):
        self.function = function
        self.__name__ = function.__name__

    def __call__(self, *arguments):
        if os.environ.get("NEURON_DEVICE") != "1":
            raise RuntimeError("no NeuronDevice found")
        as_numpy = isinstance(arguments[0], np.ndarray)
        results = _run(self.function, "device", [item if as_numpy else item.on_device() for item in arguments])
        many = results if isinstance(results, tuple) else (results,)
        return results if as_numpy else tuple(type(arguments[0])(item, "xla:0") for item in many)


def jit(function=None, **keywords):
    """`@nki.jit` and `@nki.jit(...)`."""
    return Kernel(function) if function is not None else Kernel


def simulate(kernel):
    """A kernel that runs on the host."""
    if not isinstance(kernel, Kernel):
        raise TypeError("simulate takes a kernel of nki.jit")
    return lambda *arguments: _run(kernel.function, "simulator", arguments)


def _run(function, mode, arguments):
    platform = os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE", "")
    print(json.dumps({"kernel": function.__name__, "mode": mode, "platform": platform}))
    machine.start(_GENERATIONS.get(platform, "v3"))
    return nki_numpy.jit(function)(*arguments)
