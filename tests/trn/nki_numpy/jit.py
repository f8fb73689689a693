"""`nki.jit`: NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.trn.nki_numpy.state import NkiError, machine
from tests.trn.nki_numpy.tensor import Tensor, from_array


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Inputs become tensors in HBM; a kernel returns tensors of `shared_hbm`, never its inputs."""

    def run(*arrays: np.ndarray) -> Any:
        machine.new_kernel()
        inputs = [from_array(array) for array in arrays]
        try:
            results = function(*inputs)
        except NkiError as error:
            raise NkiError(_placed(error, function.__code__.co_filename)) from error
        machine.finish()
        many = results if isinstance(results, tuple) else (results,)
        for result in many:
            if not isinstance(result, Tensor) or result.memory != "shared_hbm":
                raise NkiError("a kernel returns tensors created with buffer=nl.shared_hbm")
            if not result.root.written.all():
                raise NkiError("part of a result was never written")
        arrays_out = tuple(result.data.copy() for result in many)
        return arrays_out if isinstance(results, tuple) else arrays_out[0]

    run.__name__ = function.__name__
    return run


def _placed(error: NkiError, path: str) -> str:
    """A problem as the core simulator reports one: at the line of the kernel, which is shown."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if not frames:
        return str(error)
    line = frames[-1].lineno
    return f"{Path(path).name}:{line}: error: {error}\n  {line} | {frames[-1].line}".rstrip("| ")
