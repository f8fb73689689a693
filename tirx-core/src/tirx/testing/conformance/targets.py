"""Target kinds and what belongs to them: attributes, tags, capabilities, levels, memories, axes, layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...backend import find, registry
from ...ir import dtype_names
from ...support.errors import TargetError, TirxError
from ...support.late import load_object
from ...target import CONSTRUCTS, ScopeModel, Target
from .check import ConformanceCheck, Gap
from .subject import Subject

__all__ = ["CHECKS"]

_NO_VALUE = object()


def _kinds(subject: Subject) -> Iterator[str]:
    if not subject.kinds:
        yield Gap("it has no target kind of its own")
    made = {target.kind.name for target in subject.targets}
    yield from (
        f"no target of kind `{kind.name}` can be made, plain or by a tag"
        for kind in subject.kinds
        if kind.name not in made
    )
    for target in subject.targets:
        if Target(str(target)) != target or hash(Target(str(target))) != hash(target):
            yield f"`{target}` reads back as another target"


def _attributes(subject: Subject) -> Iterator[str]:
    for kind in subject.kinds:
        for name, attribute in kind.attributes.items():
            if attribute.default is None:
                continue
            problem = attribute.check(attribute.default) if attribute.check is not None else None
            if not isinstance(attribute.default, attribute.type):
                yield f"{kind.name}: default {attribute.default!r} of `{name}` is no {attribute.type.__name__}"
            elif problem:
                yield f"{kind.name}: its own check refuses the default of `{name}`: {problem}"
            yield from _refuses(kind.name, name)


def _refuses(kind: str, name: str) -> Iterator[str]:
    try:
        Target({"kind": kind, name: _NO_VALUE})
    except TargetError as error:
        if name not in error.message:
            yield f"{kind}: a wrong value of `{name}` is refused without its name: {error.message}"
    except Exception as error:  # noqa: BLE001 - that is what this is about
        yield f"{kind}: a wrong value of `{name}` raises {type(error).__name__}: {error}"
    else:
        yield f"{kind}: a wrong value of `{name}` is taken"


def _tags(subject: Subject) -> Iterator[str]:
    for tag in subject.rows("target_tags"):
        try:
            target = Target(tag.name)
        except TirxError as error:
            yield f"tag {tag.name}: {error.message}"
            continue
        if target.kind.name != tag.kind or Target(str(target)) != target:
            yield f"tag {tag.name} reads back as another target"


def _capabilities(subject: Subject) -> Iterator[str]:
    dtypes = {*dtype_names(), *registry().rows("dtypes")}
    for target in subject.targets:
        has = target.capabilities
        for what, given, known in (
            ("dtype", has.dtypes, dtypes),
            ("construct", has.constructs, set(CONSTRUCTS)),
            ("storage scope", has.scopes, set(registry().rows("storage_scopes"))),
            ("dtype of arithmetic", has.arithmetic, has.dtypes),
        ):
            yield from (
                f"{target.kind.name} declares {what} `{name}`, which is not known"
                for name in sorted(set(given) - set(known))
            )
        if not has.dtypes:
            yield f"{target.kind.name} declares no dtype at all"


def _limits(subject: Subject) -> Iterator[str]:
    for target in subject.targets:
        for name, value in target.limits.items():
            if type(value) is not int or value <= 0:
                yield f"{target.kind.name}: limit `{name}` is {value!r}, no positive number"
        if subject.has_threads(target) and "threads_per_cta" not in target.limits:
            yield f"{target.kind.name} has threads and does not say how many a cta may have (`threads_per_cta`)"


def _scope_models(subject: Subject) -> Iterator[str]:
    for target in subject.targets:
        model = target.scope_model()
        if not model:
            yield Gap(f"kind `{target.kind.name}` has no threads")
            continue
        yield from (f"{target.kind.name}: {problem}" for problem in _model_problems(model))


def _model_problems(model: ScopeModel) -> Iterator[str]:
    names = model.names
    if len(set(names)) != len(names):
        yield "two levels have one name"
    if names[:1] != ("kernel",) or names[-1:] != ("thread",):
        yield f"the chain goes from {names[0]} to {names[-1]}, not from kernel to thread"
    axes = [axis for level in model.levels for found in level.axes.values() for axis in found]
    if len(set(axes)) != len(axes):
        yield "two levels have one launch axis"
    for number, level in enumerate(model.levels):
        for what, outer in (("width", level.widths), ("axes", level.axes), ("reads", level.reads)):
            yield from (
                f"`{level.name}` has {what} inside `{name}`, which is no outer level"
                for name in outer
                if name not in names[:number]
            )
        for other in (level.requires, level.preferred):
            if other is not None and other not in names:
                yield f"`{level.name}` names level `{other}`, which is not there"
        if any(width <= 0 for width in level.widths.values()):
            yield f"`{level.name}` has a width that is not positive"
        yield from _barrier_problems(level)
    pairs = [name for pair in model.limits for name in pair]
    yield from (f"a limit names level `{name}`, which is not there" for name in pairs if name not in names)
    yield from (
        f"tag `{tag}` names axis `{axis}`, which is not there" for tag, axis in model.tags.items() if axis not in axes
    )


def _barrier_problems(level: Any) -> Iterator[str]:
    if level.barrier is None:
        return
    try:
        load_object(level.barrier)
    except (ImportError, AttributeError) as error:
        yield f"the barrier of `{level.name}` is not at {level.barrier!r}: {error}"


def _levels(subject: Subject) -> set[str]:
    return {name for target in subject.targets for name in target.scope_model().names}


def _storage_scopes(subject: Subject) -> Iterator[str]:
    levels = _levels(subject)
    dtypes = {*dtype_names(), *registry().rows("dtypes")}
    for row in subject.rows("storage_scopes"):
        if row.owner_level and levels and row.owner_level not in levels:
            yield f"scope `{row.name}` belongs to level `{row.owner_level}`, which none of its kinds has"
        yield from (
            f"scope `{row.name}` holds `{name}`, which is no dtype" for name in row.dtypes if name not in dtypes
        )
        if not row.address:
            yield f"scope `{row.name}` has no address"
        for target in subject.targets if row.capacity is not None else ():
            size = row.capacity(target)
            if size is not None and (not isinstance(size, int) or size < 0):
                yield f"scope `{row.name}` has {size!r} {row.unit} on {target}"


def _axes(subject: Subject) -> Iterator[str]:
    levels = _levels(subject)
    for row in subject.rows("layout_axes"):
        for level in (row.level, row.within):
            if level is not None and levels and level not in levels:
                yield f"axis `{row.name}` counts by level `{level}`, which none of its kinds has"
        yield from (f"axis `{row.name}` joins `{one}` to `{other}`, and `{name}` is no axis"
                    for one, other in row.joins.items() for name in (one, other) if find("layout_axes", name) is None)  # fmt: skip


CHECKS = (
    ConformanceCheck(
        "targets.kinds",
        _kinds,
        "a target of each kind can be made, printed and read back",
        "give attributes defaults, or a tag with all of them",
    ),
    ConformanceCheck(
        "targets.attributes",
        _attributes,
        "defaults pass the kind's own checks and wrong values are refused by name",
        "correct the default; let checks answer text and `complete` raise TargetError",
    ),
    ConformanceCheck(
        "targets.tags",
        _tags,
        "every named target can be made",
        "correct the attributes of the tag",
        after=("load.loads", "targets.kinds"),
    ),
    ConformanceCheck(
        "targets.capabilities",
        _capabilities,
        "what a kind declares is in core's vocabulary",
        "take names of tirx.target.CONSTRUCTS, of dtypes and scopes that exist; new dtypes are rows of tirx_dtypes",
    ),
    ConformanceCheck(
        "targets.limits",
        _limits,
        "limits are numbers that verification can compare with",
        "give positive integers; leave out what has no limit",
    ),
    ConformanceCheck(
        "targets.scope_model",
        _scope_models,
        "levels form a chain, and everything in it refers to it",
        "list levels from the whole kernel down to one thread, each with widths and axes inside outer ones",
    ),
    ConformanceCheck(
        "targets.storage_scopes",
        _storage_scopes,
        "memories belong to levels of the target and say how much they hold",
        "correct the row of the scope",
    ),
    ConformanceCheck(
        "targets.layout_axes",
        _axes,
        "axes count by levels of the target",
        "correct `level` and `within` of the axis, or its `joins`",
    ),
)
