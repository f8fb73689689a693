"""Instructions beyond the published sixteen, on small vectors worked out by hand: every flag, every order of operands.

A case is a builder of instructions over the input tiles and the result tiles, the inputs, and the results. They are emitted and executed,
simulated, and run against seeded mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tests.trn.build import psum, sbuf
from tirx_trn import script as nki

Build = Callable[..., Sequence[Any]]
Case = tuple[Build, list[np.ndarray], list[Any]]

X = np.array([[1, -2, 3, 4], [0.5, 6, -7, 8]], np.float32)
Y = np.array([[1, 2, -1, 5], [0, 6, 5, -8]], np.float32)
COLUMN = np.array([[10], [100]], np.float32)
MASK = np.array([[1, 0, 2, 0], [0, 255, 0, 0]], np.uint8)
BITS = np.array([[0b1100, 7, -1, 64], [0, 255, -8, 1]], np.int32)
OTHER = np.array([[0b1010, 1, 3, 2], [9, 4, 1, 30]], np.int32)
NINE = np.array([[5, 1, 5, 2, 9, 0, 3, 3, 7], [-1, -2, -3, -4, -5, -6, -7, -8, -9]], np.float32)
POWERS = np.array([[1, -2, 4, 8], [0.5, 2, -4, 8]], np.float32)  # their reciprocals are exact
QUARTERS = np.array([[2, 4, -1, 8], [1, 0.5, 2, -4]], np.float32)
COUNT = np.arange(96, dtype=np.float32)
FP32_MIN = np.finfo(np.float32).min


def i32(*rows: Any) -> np.ndarray:
    return np.array(rows, np.int32)


def f32(*rows: Any) -> np.ndarray:
    return np.array(rows, np.float32)


def f8(*rows: Any) -> np.ndarray:
    return np.array(rows, ml_dtypes.float8_e4m3)


def _quotient(x: Any, y: Any, r: Any) -> list[Any]:
    return [nki.tensor_tensor(r, x, y, "divide")]


def _over_nine(r: Any, *calls: Any) -> list[Any]:
    """The result tile holds 9 everywhere before the calls."""
    return [nki.memset(r, 9.0), *calls]


def _transposed(x: Any, r: Any) -> list[Any]:
    acc = psum("acc", 4, 2)
    return [acc, nki.nc_transpose(acc, x), nki.tensor_copy(r, acc)]


def _accumulated(*flags: Any) -> Build:
    def build(x: Any, y: Any, r: Any) -> list[Any]:
        acc = psum("acc", 4, 4)
        return [
            acc,
            *(nki.nc_matmul(dst=acc, stationary=x, moving=y, accumulate=flag) for flag in flags),
            nki.tensor_copy(r, acc),
        ]

    return build


def _paired(x: Any, y: Any, r: Any) -> list[Any]:
    """Both rows of a partition at a time: (2, 2, 2) by (2, 2, 1), a slice."""
    acc = psum("acc", 2, 1)
    return [
        acc,
        nki.nc_matmul(dst=acc, stationary=x, moving=y[:, :, 1:2], perf_mode="double_row"),
        nki.tensor_copy(r, acc),
    ]


def _in_a_corner(x: Any, y: Any, r: Any) -> list[Any]:
    """A product on one part of the array computes the same."""
    acc = psum("acc", 4, 4)
    return [acc, nki.nc_matmul(acc, x, y, tile_position=(32, 64), tile_size=(32, 64)), nki.tensor_copy(r, acc)]


def _corner(x: Any, r: Any) -> list[Any]:
    """A scalar that lies in one partition."""
    return [nki.tensor_scalar(r, x, "subtract", x[0:1, 2:3], True)]


def _sum_of_two(x: Any, s: Any, r: Any) -> list[Any]:
    again = {"reduce_cmd": "reduce"}
    return [
        nki.activation_reduce(s, r, x, "copy", "add"),
        nki.activation_reduce(s, r, x, "copy", "add", 0.0, 2.0, **again),
    ]


def _largest_of_two(x: Any, y: Any, s: Any, r: Any) -> list[Any]:
    return [
        nki.tensorscalar_reduce(s, r, x, 1.0, "mul", "max"),
        nki.tensorscalar_reduce(s, r, y, 1.0, "mul", "max", reduce_cmd="reduce"),
    ]


def _replaced(x: Any, r: Any, places: Any) -> list[Any]:
    best = sbuf("best", 2, 8)
    return [best, nki.max8(best, x), nki.nc_match_replace8(r, x, best, 0.25, places)]


def _found(x: Any, r: Any) -> list[Any]:
    wanted = sbuf("wanted", 2, 8)
    return [wanted, nki.memset(wanted, 5.0), nki.memset(wanted[:, 1:2], -3.0), nki.nc_find_index8(r, x, wanted)]


def _by_range(x: Any, low: Any, high: Any, s: Any, r: Any) -> list[Any]:
    return [nki.range_select(r, x, "greater_equal", "less", low, high, s, range_start=1)]


def _selected_twice(p: Any, x: Any, y: Any, s: Any, r: Any) -> list[Any]:
    return [nki.select_reduce(r, p, x, -50.0, s, "reset_reduce"), nki.select_reduce(r, p, y, -60.0, s, "reduce")]


VECTORS: dict[str, Case] = {
    "copied where set": (
        lambda x, p, r: _over_nine(r, nki.tensor_copy_predicated(r, x, p)), [X, MASK], [f32([1, 9, 3, 9], [9, 6, 9, 9])]
    ),
    "copied where not set": (
        lambda x, p, r: _over_nine(r, nki.tensor_copy_predicated(r, x, p, reverse_pred=True)), [X, MASK],
        [f32([9, -2, 9, 4], [0.5, 9, -7, 8])],
    ),
    "iota": (
        lambda x, r: [nki.iota(r, [[3, 4]], offset=5, channel_multiplier=100)], [X], [i32([5, 8, 11, 14], [105, 108, 111, 114])]
    ),
    "iota of two dimensions": (lambda x, r: [nki.iota(r, [[-10, 2], [1, 2]])], [X], [i32([0, 1, -10, -9], [0, 1, -10, -9])]),
    "transposed by the tensor engine": (_transposed, [X], [X.T]),
    "transposed by the vector engine": (lambda x, r: [nki.nc_transpose(r, x, engine="vector")], [X], [X.T]),
    "transposed by a queue": (lambda x, r: [nki.dma_transpose(r, x)], [np.arange(32, dtype=np.float32).reshape(8, 4)],
                              [np.arange(32, dtype=np.float32).reshape(8, 4).T]),
    "copied by a queue": (
        lambda x, r: [nki.dma_copy(dst=r[0:1, :], src=x[1:2, :]), nki.dma_copy(r[1:2, :], x[0:1, :])], [X], [X[::-1]]
    ),
    "equal": (lambda x, y, r: [nki.tensor_tensor(r, x, y, "equal")], [X, Y], [f32([1, 0, 0, 0], [0, 1, 0, 0])]),
    "not_equal": (lambda x, y, r: [nki.tensor_tensor(r, x, y, "not_equal")], [X, Y], [f32([0, 1, 1, 1], [1, 0, 1, 1])]),
    "greater": (lambda x, y, r: [nki.tensor_tensor(r, x, y, "greater")], [X, Y], [f32([0, 0, 1, 0], [1, 0, 0, 1])]),
    "greater_equal": (lambda x, y, r: [nki.tensor_tensor(r, x, y, "greater_equal")], [X, Y], [f32([1, 0, 1, 0], [1, 1, 0, 1])]),
    "less": (lambda x, y, r: [nki.tensor_tensor(r, x, y, "less")], [X, Y], [f32([0, 1, 0, 1], [0, 0, 1, 0])]),
    "less_equal": (lambda x, y, r: [nki.tensor_tensor(r, x, y, "less_equal")], [X, Y], [f32([1, 1, 0, 1], [0, 1, 1, 0])]),
    "logical_and": (lambda x, y, r: [nki.tensor_tensor(r, x, y, "logical_and")], [X, Y], [f32([1, 1, 1, 1], [0, 1, 1, 1])]),
    "logical_or": (lambda x, r: [nki.tensor_scalar(r, x, "logical_or", 0.0)], [Y], [f32([1, 1, 1, 1], [0, 1, 1, 1])]),
    "logical_xor": (lambda x, r: [nki.tensor_scalar(r, x, "logical_xor", 2.0)], [Y], [f32([0, 0, 0, 0], [1, 0, 0, 0])]),
    "power": (lambda x, r: [nki.tensor_tensor(r, x, x, "power")], [f32([1, 2], [3, 4])], [f32([1, 4], [27, 256])]),
    "scalar power reversed": (lambda x, r: [nki.tensor_scalar(r, x, "power", 2.0, True)], [f32([1, 2], [3, -1])], [f32([2, 4], [8, 0.5])]),
    "abs": (lambda x, r: [nki.tensor_scalar(r, x, "abs", 0.0)], [X], [np.abs(X)]),
    "rsqrt": (lambda x, r: [nki.tensor_scalar(r, x, "rsqrt", 0.0)], [f32([4, 16], [0.25, 1])], [f32([0.5, 0.25], [2, 1])]),
    "bitwise_and": (
        lambda x, y, r: [nki.tensor_tensor(r, x, y, "bitwise_and")], [BITS, OTHER], [i32([8, 1, 3, 0], [0, 4, 0, 0])]
    ),
    "bitwise_or": (
        lambda x, y, r: [nki.tensor_tensor(r, x, y, "bitwise_or")], [BITS, OTHER], [i32([14, 7, -1, 66], [9, 255, -7, 31])]
    ),
    "bitwise_xor": (
        lambda x, y, r: [nki.tensor_tensor(r, x, y, "bitwise_xor")], [BITS, OTHER], [i32([6, 6, -4, 66], [9, 251, -7, 31])]
    ),
    "left_shift": (
        lambda x, y, r: [nki.tensor_tensor(r, x, y, "left_shift")], [BITS, OTHER],
        [i32([12288, 14, -8, 256], [0, 4080, -16, 1 << 30])],
    ),
    "right_shift": (
        lambda x, y, r: [nki.tensor_tensor(r, x, y, "right_shift")], [BITS, OTHER], [i32([0, 3, -1, 16], [0, 15, -4, 0])]
    ),
    "bits and a number": (
        lambda x, r: [nki.tensor_scalar(r, x, "bitwise_and", 12, op1="left_shift", operand1=1)], [BITS],
        [i32([24, 8, 24, 0], [0, 24, 16, 0])],
    ),
    "a number and bits": (
        lambda x, r: [nki.tensor_scalar(r, x, "left_shift", 1, True)], [OTHER], [i32([1024, 2, 8, 4], [512, 16, 2, 1 << 30])]
    ),
    "bits reduced": (lambda x, r: [nki.tensor_reduce(r, "bitwise_or", x, 1)], [OTHER], [i32([11], [31])]),
    "tensor_scalar": (
        lambda x, c, r: [nki.tensor_scalar(r, x, "subtract", 1.0, True, "multiply", c)], [X, COLUMN],
        [f32([0, 30, -20, -30], [50, -500, 800, -700])],
    ),
    "tensor_scalar on the scalar engine": (
        lambda x, r: [nki.tensor_scalar(r, x, "multiply", 2.0, op1="add", operand1=1.0, engine="scalar")], [X],
        [f32([3, -3, 7, 9], [2, 13, -13, 17])],
    ),
    "tensor_reduce": (lambda x, r: [nki.tensor_reduce(r, op="maximum", data=x, axis=(1,), negate=True)], [X], [f32([-4], [-8])]),
    "multiplied up": (lambda x, r: [nki.tensor_reduce(r, "multiply", x, 1)], [X], [f32([-24], [-168])]),
    "tensor_scalar_reduce": (
        lambda x, s, r: [nki.tensor_scalar_reduce(r, x, "add", 1.0, "minimum", s)], [X], [f32([-1], [-6]), X + 1]
    ),
    "largest of two": (_largest_of_two, [X, Y], [f32([5], [8]), Y]),
    "sum of two": (_sum_of_two, [X], [f32([18], [22.5]), X * 2]),
    "activation with a sum": (
        lambda x, s, r: [nki.activation(dst=r, op="square", data=x, reduce_op="add", reduce_res=s)], [X], [f32([30], [149.25]), X * X]
    ),
    "activation by NKI's names": (
        lambda x, c, r: [nki.activation(dst=r, op="copy", data=x, bias=c, scale=2.0)], [X, COLUMN],
        [f32([12, 6, 16, 18], [101, 112, 86, 116])],
    ),
    "running sum": (
        lambda x, y, r: [nki.memset(r, 1.0), nki.tensor_tensor_scan(r, r, y, 0.0, "multiply", "add")], [X, Y],
        [f32([1, 3, 2, 7], [0, 6, 11, 3])],
    ),
    "scan from a column": (
        lambda x, y, c, r: [nki.tensor_tensor_scan(r, x, y, c, "multiply", "add")], [X, Y, COLUMN],
        [f32([11, -20, -61, -239], [50, 306, -2137, -17104])],
    ),
    "scan reversed": (
        lambda x, y, r: [nki.tensor_tensor_scan(r, x, y, 1.0, "subtract", "subtract", reverse0=True, reverse1=True)], [X, Y],
        [f32([1, -1, 3, 6], [-0.5, 12.5, -14.5, 14.5])],
    ),
    "scan not reversed": (
        lambda x, y, r: [nki.tensor_tensor_scan(r, x, y, 1.0, "subtract", "subtract")], [X, Y],
        [f32([-1, -3, 7, -8], [-0.5, 0.5, -12.5, 28.5])],
    ),
    "selected": (lambda p, x, r: [nki.select_reduce(r, p, x, -5.0)], [MASK, X], [f32([1, -5, 3, -5], [-5, 6, -5, -5])]),
    "selected reversed": (
        lambda p, x, c, r: [nki.select_reduce(r, p, x, c, reverse_pred=True)], [MASK, X, COLUMN],
        [f32([10, -2, 10, 4], [0.5, 100, -7, 8])],
    ),
    "selected twice": (_selected_twice, [MASK, X, Y], [f32([3], [6]), f32([1, -60, -1, -60], [-60, 6, -60, -60])]),
    "selected by range": (
        _by_range, [X, f32([2], [1]), f32([4], [3])],
        [f32([3], [6]), f32([FP32_MIN, -2, 3, FP32_MIN], [0.5, 6, FP32_MIN, FP32_MIN])],
    ),
    "divided by a tile": (_quotient, [X, QUARTERS], [f32([0.5, -0.5, -3, 0.5], [0.5, 12, -3.5, -2])]),
    "divided by a column": (_quotient, [X, f32([2], [0.25])], [f32([0.5, -1, 1.5, 2], [2, 24, -28, 32])]),
    "a column divided": (_quotient, [f32([8], [4]), POWERS], [f32([8, -4, 2, 1], [8, 2, -1, 0.5])]),
    "divided by a number": (lambda x, r: [nki.tensorscalar(r, x, 4.0, "div")], [X], [X / 4]),
    "a number divided": (lambda x, r: [nki.tensor_scalar(r, x, "divide", 8.0, True)], [POWERS], [8 / POWERS]),
    "first step divided": (lambda x, r: [nki.tensor_scalar(r, x, "divide", 2.0, op1="add", operand1=1.0)], [X], [X / 2 + 1]),
    "second step divides": (
        lambda x, r: [nki.tensor_scalar(r, x, "add", 1.0, op1="divide", operand1=8.0, reverse1=True)], [POWERS - 1], [8 / POWERS]
    ),
    "a tile by the first step": (
        lambda x, y, r: [nki.scalar_tensor_tensor(r, x, 1.0, y, "add", "div", False, True)], [POWERS - 1, Y], [Y / POWERS]
    ),
    "the first step by a tile": (
        lambda x, y, r: [nki.scalar_tensor_tensor(r, x, 2.0, y, "div", "div", True, False)], [POWERS, QUARTERS], [2 / POWERS / QUARTERS]
    ),
    "quotients added up": (lambda x, s, r: [nki.tensorscalar_reduce(s, r, x, 2.0, "div", "add")], [X], [f32([3], [3.75]), X / 2]),
    "a column second": (lambda x, y, r: [nki.tensor_tensor(r, x, y, "subtract")], [X, COLUMN], [X - COLUMN]),
    "a column first": (lambda x, y, r: [nki.tensor_tensor(r, y, x, "subtract")], [X, COLUMN], [COLUMN - X]),
    "one scalar for all": (lambda x, r: [nki.tensor_scalar(r, x, "subtract", x[0:1, 2:3], True)], [X], [3 - X]),
    "one scalar beside a tile": (lambda x, r: [nki.tensor_tensor(r, x, x[0:1, 2:3], "multiply")], [X], [3 * X]),
    "a bias of bytes": (
        lambda x, b, r: [nki.activation(r, x, "copy", b)], [X, np.array([[3], [200]], np.uint8)], [X + f32([3], [200])]
    ),
    "one byte for all": (
        lambda x, b, r: [nki.activation(r, x, "copy", b[0:1, :])], [X, np.array([[3], [200]], np.uint8)], [X + 3]
    ),
    "one bias for all": (lambda x, r: [nki.activation(r, x, "copy", x[0:1, 3:4])], [X], [X + 4]),
    "remainder of integers": (lambda x, r: [nki.tensorscalar(r, x, 8, "mod")], [BITS], [i32([4, 7, 7, 0], [0, 7, 0, 1])]),
    "two rows at a time": (
        _paired, [f8([[1, 2], [3, 4]], [[-1, 0.5], [2, 8]]), f8([[9, 1], [9, 2]], [[9, 4], [9, 0.5]])], [f32([4], [16])]),
    "a part of the array": (_in_a_corner, [X, Y], [X.T @ Y]),
    "three axes by a queue": (lambda x, r: [nki.dma_transpose(r, x, (2, 1, 0))], [COUNT.reshape(8, 2, 6)], [COUNT.reshape(8, 2, 6).T]),
    "four axes by a queue": (
        lambda x, r: [nki.dma_transpose(r, x, (3, 1, 2, 0))], [COUNT.reshape(4, 2, 4, 3)], [COUNT.reshape(4, 2, 4, 3).swapaxes(0, 3)]
    ),
    "max8": (lambda x, r: [nki.max8(r, x)], [NINE], [f32([9, 7, 5, 5, 3, 3, 2, 1], [-1, -2, -3, -4, -5, -6, -7, -8])]),
    "found": (
        _found, [NINE],
        [np.array([[0, 2**32 - 1, *[0] * 6], [2**32 - 1, 2, *[2**32 - 1] * 6]], np.uint32)],
    ),
    "replaced": (
        _replaced, [NINE],
        [
            f32([0.25, 0.25, 0.25, 0.25, 0.25, 0, 0.25, 0.25, 0.25], [*[0.25] * 8, -9]),
            np.array([[4, 8, 0, 2, 6, 7, 3, 1], [0, 1, 2, 3, 4, 5, 6, 7]], np.uint32),
        ],
    ),
    "select by a pattern": (
        lambda x, r: [
            nki.affine_select(
                dst=r, pattern=[[-1, 4]], channel_multiplier=1, on_true_tile=x, on_false_value=7.0, cmp_op="greater_equal", offset=1
            )
        ],
        [X], [f32([1, -2, 7, 7], [0.5, 6, -7, 7])],
    ),
    "products: the first replaces": (_accumulated(None, None), [X, Y], [(X.T @ Y) * 2]),
    "products: replaced, then added": (_accumulated(False, True, True), [X, Y], [(X.T @ Y) * 3]),
    "products: replaced twice": (_accumulated(False, False), [X, Y], [X.T @ Y]),
    "integers through float32": (
        lambda x, r: [nki.tensor_copy(r, x, engine="scalar")], [i32([2**24 + 1, 3])], [i32([2**24, 3])]
    ),
    "integers on the vector engine": (
        lambda x, r: [nki.tensor_tensor(r, x, x, "add", engine="vector")], [i32([2**23 + 1, 3])], [i32([2**24 + 2, 6])]
    ),
    "integers on GpSimd": (
        lambda x, r: [nki.tensor_tensor(r, x, x, "multiply")], [i32([2**15 + 1, 3])], [i32([2**30 + 2**16 + 1, 9])]
    ),
    "rounded to even": (lambda x, r: [nki.tensor_copy(r, x)], [f32([0.5, 1.5, -2.5, 3e10])], [i32([0, 2, -2, 2**31 - 1])]),
    "the identity": (lambda x, r: [nki.shared_identity(r, 3)], [X], [np.eye(3, dtype=np.float32)]),
}  # fmt: skip

# Functions of the scalar engine: an argument, and the value from a table.
FUNCTIONS = {
    "exp": (1.0, 2.7182818), "sqrt": (2.0, 1.4142136), "copy": (-3.5, -3.5), "square": (-3.0, 9.0), "sigmoid": (1.0, 0.7310586),
    "relu": (-2.0, 0.0), "gelu": (1.0, 0.8413447), "gelu_dx": (1.0, 1.0833155), "gelu_apprx_tanh": (1.0, 0.8411920),
    "gelu_apprx_sigmoid": (1.0, 0.8457958), "gelu_apprx_sigmoid_dx": (1.0, 1.0677795), "silu": (1.0, 0.7310586),
    "silu_dx": (1.0, 0.9276705), "tanh": (1.0, 0.7615942), "softplus": (1.0, 1.3132617), "mish": (1.0, 0.8650984),
    "erf": (1.0, 0.8427008), "erf_dx": (1.0, 0.4151075), "log": (2.0, 0.6931472), "sin": (1.0, 0.8414710),
    "arctan": (1.0, 0.7853982), "rsqrt": (4.0, 0.5), "reciprocal": (-4.0, -0.25), "sign": (-3.0, -1.0), "abs": (-3.0, 3.0),
}  # fmt: skip
