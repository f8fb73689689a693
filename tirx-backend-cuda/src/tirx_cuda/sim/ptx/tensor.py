"""Meanings of copies of tensors: a map says where elements lie, coordinates where the box is. And of changing maps.

The image of a box in shared memory is a row of units of 16 bytes, elements along the innermost dimension first; units are turned
(swizzled) by bits of their address. PTX ISA, "Tensors", "Tensor copy"; CUDA Driver API, cuTensorMapEncodeTiled.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tirx.ir import DType
from tirx.sim.memory import GLOBAL_BASE

from ...tensor_map import BYTES, FIELDS, IM2COL, INTERLEAVES, MAGIC, MODES, SWIZZLES, TILED, TensorMap, parsed
from .address import rank_of
from .atomic import UPDATES
from .box import Box, box_of
from .bulk import ON_GROUP, ON_MBARRIER, ON_READ, QUEUE, ROW, targets
from .fragments import WARP
from .mbarrier import complete_on
from .run import Op
from .turned import mark

__all__ = ["cp_fenceproxy", "fence_acquire", "fence_release", "prefetch", "reduce", "replace", "to_global", "to_shared"]

_HELD = {
    "float16": np.float16,
    "float32": np.float32,
    "float64": np.float64,
    "bfloat16": ml_dtypes.bfloat16,
    "tf32": np.float32,
}
_HELD |= {"float32_ftz": np.float32, "tf32_ftz": np.float32}
_HELD |= {f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64)}
_BYTE = DType("uint8")


# ---- maps -------------------------------------------------------------------------------------------------------------


def _named(op: Op, values: Any) -> dict[str, Any]:
    names = [part.name for part in op.form.parts if part.rw != "w"]
    return dict(zip(names, values, strict=True))


def _maps(op: Op, address: Any) -> list[TensorMap | None]:
    """The map of each thread, checked against the instruction; None where it cannot be used."""
    place = op.full(np.asarray(address).astype(np.int64))
    off = place % 64 != 0
    if off.any():
        op.ctx.finding("misaligned", "a tensor map lies at a multiple of 64 bytes", off)
    _check_fenced(op, place)
    inside = place >= GLOBAL_BASE
    if not inside.all():
        op.ctx.finding("tensor_map", "a tensor map is read from parameters, constant or global memory", ~inside)
    data = _bytes_at(op, np.where(inside, place, place[inside][0] if inside.any() else GLOBAL_BASE))
    known: dict[bytes, TensorMap | None] = op.ctx.state.setdefault("tensor maps", {})
    return [
        _checked(one, known, bytes(row)) if ok else None for one, row, ok in zip(op.each(), data, inside, strict=True)
    ]


def _bytes_at(op: Op, place: Any) -> Any:
    """128 bytes at each address."""
    many: Any = op.ctx.repeated(np.full(op.count, BYTES // 16))
    found = many.load(np.repeat(place, BYTES // 16) + np.tile(np.arange(0, BYTES, 16), op.count), ROW)
    return np.ascontiguousarray(found).view(np.uint8).reshape(op.count, BYTES)


def _checked(op: Op, known: dict[bytes, TensorMap | None], data: bytes) -> TensorMap | None:
    if data not in known:
        known[data] = parsed(data)
    found = known[data]
    if found is None:
        op.ctx.finding(
            "tensor_map",
            "these 128 bytes are no tensor map: nothing encoded them, or a field has a value that it may not have",
        )
        return None
    mode, rank = _mode(op), int(op.get("dim").removesuffix("d") or 2)
    if mode != MODES[found.mode]:
        op.ctx.finding(
            "tensor_map", f"{op.form.mnemonic} needs a map of mode {mode}, and this one is {MODES[found.mode]}"
        )
        return None
    if rank != found.rank:
        op.ctx.finding("tensor_map", f"the tensor map has {found.rank} dimensions, and the instruction copies {rank}")
        return None
    if INTERLEAVES[found.interleave] != "none" or found.mode > IM2COL:
        op.ctx.unmodelled(f"a tensor map of mode {MODES[found.mode]}, interleave {INTERLEAVES[found.interleave]}")
        return None
    return found


def _mode(op: Op) -> str:
    words = op.form.mnemonic.split(".")
    if any(word.startswith("im2col") for word in words):
        wide = {"im2col::w": "im2col_w", "im2col::w::128": "im2col_w128", "im2col_no_offs::w": "im2col_w"}
        return next((wide[word] for word in words if word in wide), "im2col")
    return MODES[TILED]


def _box(op: Op, made: TensorMap, given: dict[str, Any]) -> Box:
    coordinates = [int(value.reshape(-1)[0]) for name, value in given.items() if name.startswith("coords")]
    offsets = [int(value.reshape(-1)[0]) for name, value in given.items() if name.startswith("im2colOffsets")]
    rows = "gather4" in op.form.mnemonic or "scatter4" in op.form.mnemonic
    return box_of(made, coordinates, offsets, rows)


def _given_of(op: Op, given: dict[str, Any], thread: int) -> dict[str, Any]:
    return {name: op.full(np.asarray(value))[thread : thread + 1] for name, value in given.items()}


# ---- shared memory ----------------------------------------------------------------------------------------------------


def _units(op: Op, made: TensorMap, base: int, count: int) -> tuple[Any, Any]:
    """The address of each unit of an image at `base`, and whether its halves change places."""
    if base % 128:
        op.ctx.finding(
            "misaligned",
            f"{op.form.mnemonic} needs a multiple of 128 bytes in shared memory, and this is {base % 128} past one",
        )
    place = base + 16 * np.arange(count)
    turned, flipped = place, np.zeros(count, bool)
    for bits, far in SWIZZLES[made.swizzle].turns:
        if bits < 16:
            flipped = ((place >> far) & bits) != 0
        else:
            turned = turned ^ ((place >> far) & bits)
    return turned, flipped


def _flip(data: Any, flipped: Any) -> Any:
    """Halves of units change places."""
    return np.where(flipped[:, None], np.roll(data, 8, axis=1), data)


# ---- global memory ----------------------------------------------------------------------------------------------------


def _read(op: Op, made: TensorMap, box: Box) -> Any:
    """The image of a box: (units, 16) bytes; what lies outside the tensor is filled."""
    element = made.element
    assert element is not None
    image = np.empty((box.units, 16 // element.bytes), f"u{element.bytes}")
    image[:] = (1 << (8 * element.bytes - 1)) - 1 if made.fill else 0
    whole = box.whole
    if whole.any():
        many: Any = op.ctx.repeated([int(whole.sum())])
        found = many.load(box.address[whole, 0], ROW)
        image[whole] = np.ascontiguousarray(found).view(image.dtype).reshape(-1, image.shape[1])
    single = box.inside & ~whole[:, None]
    if single.any():
        many = op.ctx.repeated([int(single.sum())])
        image[single] = many.load(box.address[single], DType(image.dtype.name))
    return _converted(op, made, image).view(np.uint8).reshape(box.units, 16)


def _converted(op: Op, made: TensorMap, image: Any) -> Any:
    """Elements of float32 that are rounded on the way, or whose smallest numbers become zeros."""
    assert made.element is not None
    name = made.element.name
    if name.endswith("_ftz"):
        small = (image & 0x7F800000) == 0
        image = np.where(small, image & np.uint32(0x80000000), image).astype(np.uint32)
    if name.startswith("tf32") and ((image & 0x1FFF) != 0).any():
        op.ctx.unmodelled("how a tensor map rounds float32 to tf32")
    return image


def _write(op: Op, made: TensorMap, box: Box, image: Any, update: Any) -> None:
    """The elements of an image go to memory when the thread waits; those outside the tensor do not."""
    assert made.element is not None
    size, what = made.element.bytes, op.title
    whole = box.whole if update is None else np.zeros(box.units, bool)
    if whole.any():
        many: Any = op.ctx.repeated([int(whole.sum())])
        words = np.ascontiguousarray(image[whole]).view(np.uint32)
        many.defer(QUEUE, box.address[whole, 0], ROW, words, what=what, until=ON_GROUP, apart=True)
    single = box.inside & ~whole[:, None]
    if single.any():
        held = np.dtype(f"u{size}" if update is None else _HELD[made.element.name])
        elements = np.ascontiguousarray(image).view(held)
        many = op.ctx.repeated([int(single.sum())])
        many.defer(
            QUEUE,
            box.address[single],
            DType(held.name),
            elements[single],
            update,
            what=what,
            until=ON_GROUP,
            apart=True,
        )


# ---- copies -----------------------------------------------------------------------------------------------------------


def to_shared(op: Op, *values: Any) -> None:
    """A box of a tensor into shared memory; an mbarrier counts all its bytes, those outside the tensor too."""
    given = _named(op, values)
    if op.has("addr") or op.has("report"):
        op.ctx.unmodelled(op.form.mnemonic)
        return
    maps = _maps(op, given["tensorMap"])
    for thread, (one, made) in enumerate(zip(op.each(), maps, strict=True)):
        if made is not None:
            _one_to_shared(one, made, _given_of(op, given, thread))


def _one_to_shared(op: Op, made: TensorMap, given: dict[str, Any]) -> None:
    box = _box(op, made, given)
    data = _read(op, made, box)
    mask = given.get("ctaMask")
    for part, there, bar, _ in targets(op, given["dst"], given["mbar"], mask):
        if mask is None and op.get("group") != "cta_group::2" and rank_of(there[0]) != rank_of(bar[0]):
            op.ctx.finding("tensor_map", "the mbarrier of a copy lies in the cta that the copy goes to")
        address, flipped = _units(part, made, int(there[0]), box.units)
        mark(part, address, made.swizzle)
        many: Any = part.ctx.repeated([box.units])
        words = np.ascontiguousarray(_flip(data, flipped)).view(np.uint32)
        promise = many.promise(address, ROW, words, what=op.title, until=ON_MBARRIER, apart=True)
        complete_on(part, bar, np.array([16 * box.units]), [promise])


def to_global(op: Op, *values: Any) -> None:
    """A box of a tensor from shared memory; the thread waits for its groups of copies."""
    _from_shared(op, values, None)


def reduce(op: Op, *values: Any) -> None:
    """The same, combined with what is there."""
    _from_shared(op, values, op.get("redop"))


_REDUCIBLE = {
    "add": ("uint32", "int32", "uint64", "float16", "bfloat16", "float32", "float32_ftz"),
    "min": ("uint32", "int32", "uint64", "int64", "float16", "bfloat16"),
    "max": ("uint32", "int32", "uint64", "int64", "float16", "bfloat16"),
    "inc": ("uint32",), "dec": ("uint32",),
    **dict.fromkeys(("and", "or", "xor"), ("uint32", "int32", "uint64", "int64")),
}  # fmt: skip


def _from_shared(op: Op, values: Any, operation: str | None) -> None:
    given = _named(op, values)
    if op.has("addr"):
        op.ctx.unmodelled(op.form.mnemonic)
        return
    maps = _maps(op, given["tensorMap"])
    for thread, (one, made) in enumerate(zip(op.each(), maps, strict=True)):
        if made is None:
            continue
        assert made.element is not None
        if operation is not None and made.element.name not in _REDUCIBLE[operation]:
            one.ctx.finding("tensor_map", f"elements of {made.element.name} cannot be combined by .{operation}")
            continue
        _one_from_shared(one, made, _given_of(op, given, thread), operation)


def _one_from_shared(op: Op, made: TensorMap, given: dict[str, Any], operation: str | None) -> None:
    box = _box(op, made, given)
    address, flipped = _units(op, made, int(given["src"][0]), box.units)
    many: Any = op.ctx.repeated([box.units])
    words = many.load(address, ROW)
    many.watch(address, ROW, queue=QUEUE, what=op.title, until=ON_READ, fenced=True)
    data = _flip(np.ascontiguousarray(words).view(np.uint8).reshape(box.units, 16), flipped)
    _write(op, made, box, data, None if operation is None else UPDATES[operation])


def prefetch(op: Op, *values: Any) -> None:
    """Nothing that could be seen; the map must fit."""
    if not op.has("addr"):
        _maps(op, _named(op, values)["tensorMap"])


# ---- changing maps ----------------------------------------------------------------------------------------------------


def replace(op: Op, address: Any, *values: Any) -> None:
    """One field of a map in memory."""
    field = next(word for word in op.form.mnemonic.split(".") if word in FIELDS)
    position = int(values[0]) if len(values) > 1 else 0
    start, size, more = FIELDS[field]
    place = op.full(np.asarray(address).astype(np.int64))
    value = (op.full(values[-1]).astype(np.int64) + more).astype(f"u{size}")
    op.ctx.store(place + start + size * position, DType(f"uint{8 * size}"), value)
    op.ctx.store(place + FIELDS["magic"][0], _BYTE, np.full(op.count, MAGIC, np.uint8))
    _changed(op, place, False)


def cp_fenceproxy(op: Op, dst: Any, src: Any, *size: Any) -> None:
    """A map from shared to global memory by a warp, where copies see it that acquire it."""
    leader = np.arange(op.count) % WARP == 0
    one = op.where(leader)
    there, here = (op.full(np.asarray(item).astype(np.int64))[leader] for item in (dst, src))
    data = _bytes_at(one, here)
    many: Any = one.ctx.repeated(np.full(one.count, BYTES // 16))
    places = np.repeat(there, BYTES // 16) + np.tile(np.arange(0, BYTES, 16), one.count)
    many.store(places, ROW, data.reshape(-1, 16).view(np.uint32))
    _changed(one, there, True)


def _changed(op: Op, place: Any, released: bool) -> None:
    """Remember that maps in global memory are not what copies have seen of them."""
    changes = op.ctx.state.setdefault("tensor maps changed", {})
    for address, thread in zip(place, np.asarray(op.ctx.threads), strict=True):
        if address >= GLOBAL_BASE:
            changes[int(address)] = [changes.get(int(address), [0])[0] + 1, released, int(thread)]


def fence_release(op: Op) -> None:
    """The maps that the threads changed may be acquired."""
    mine = set(np.asarray(op.ctx.threads).tolist())
    for change in op.ctx.state.get("tensor maps changed", {}).values():
        change[1] = change[1] or change[2] in mine


def fence_acquire(op: Op, address: Any, *size: Any) -> None:
    """Copies of these ctas see the map as it is now."""
    changes, seen = op.ctx.state.get("tensor maps changed", {}), op.ctx.state.setdefault("tensor maps seen", {})
    ctas = np.asarray(op.ctx.group("cta"))
    for place, cta in set(zip(op.full(np.asarray(address).astype(np.int64)).tolist(), ctas.tolist(), strict=True)):
        version, released, _ = changes.get(place, (0, True, 0))
        if released:
            seen[cta, place] = version


def _check_fenced(op: Op, place: Any) -> None:
    changes = op.ctx.state.get("tensor maps changed")
    if not changes:
        return
    seen, ctas = op.ctx.state.get("tensor maps seen", {}), np.asarray(op.ctx.group("cta"))
    late = np.array(
        [
            int(at) in changes and seen.get((int(cta), int(at)), 0) != changes[int(at)][0]
            for at, cta in zip(place, ctas, strict=True)
        ]
    )
    if late.any():
        text = (
            "the tensor map was changed, and no fence stands between: tensormap.cp_fenceproxy or fence.proxy.tensormap::generic.release by "
            "who changes it, then fence.proxy.tensormap::generic.acquire by who copies"
        )
        op.ctx.finding("proxy_fence", text, late)
