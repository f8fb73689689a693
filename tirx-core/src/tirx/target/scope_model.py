"""The levels of cooperation that a target has: an ordered chain from the whole launch down to one thread.

Widths multiply along the chain. A target that lacks a level does not list it; a target without threads has an empty
model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..support.errors import TargetError
from ..support.suggest import did_you_mean

__all__ = ["ScopeLevel", "ScopeModel"]


class ScopeLevel:
    """One level of a chain.

    * `name`: `kernel cluster cta_pair cta warpgroup warp thread` where a target has what people call so; else its own
    * `widths`: members of this level in one of an outer level where that never varies (`{"warp": 32}` for `thread`);
      everything else is decided by each launch
    * `optional`: the level only exists in launches that mention it (clusters, warpgroups)
    * `axes`: launch axes that index this level inside an outer one, fastest first
      (`{"kernel": ("cta.x", "cta.y", "cta.z")}`); ids without axes are computed from those that have
    * `preferred`: the outer level inside which a launch may name preferred extents too (axes `preferred_<axis>`)
    * `reads`: further index names by outer level, which the machine keeps although no launch sizes them
    * `requires`: another optional level that a launch with this one has too
    * `barrier`: `"module:function"`; a kernel that calls it with `ids(child, within)`, the ids of its levels, makes the threads of
      a member wait for each other
    * `uniform`: all threads of a member see the same id, and a code generator may say so to the compiler
    """

    __slots__ = ("axes", "barrier", "name", "optional", "preferred", "reads", "requires", "uniform", "widths")

    def __init__(
        self,
        name: str,
        *,
        widths: Mapping[str, int] | None = None,
        optional: bool = False,
        axes: Mapping[str, Sequence[str]] | None = None,
        reads: Mapping[str, Sequence[str]] | None = None,
        requires: str | None = None,
        preferred: str | None = None,
        uniform: bool = False,
        barrier: str | None = None,
    ) -> None:
        self.name = name
        self.widths = dict(widths or {})
        self.optional = optional
        self.axes = {within: tuple(names) for within, names in (axes or {}).items()}
        self.reads = {within: tuple(names) for within, names in (reads or {}).items()}
        self.preferred = preferred
        self.requires = requires
        self.uniform = uniform
        self.barrier = barrier


class ScopeModel:
    """The chain of a target, outermost level first.

    `limits` maps (parent, child) to the largest number of child members in one parent that a launch may have, and
    `axis_limits` an axis to its largest extent. `tags` are further names by which kernels may call launch axes
    (`{"group.x": "cta.x"}`).
    """

    __slots__ = ("axis_limits", "levels", "limits", "tags")

    def __init__(
        self,
        levels: Sequence[ScopeLevel] = (),
        limits: Mapping[tuple[str, str], int] | None = None,
        *,
        axis_limits: Mapping[str, int] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        self.levels = tuple(levels)
        self.limits = dict(limits or {})
        self.axis_limits = dict(axis_limits or {})
        self.tags = dict(tags or {})

    @property
    def names(self) -> tuple[str, ...]:
        """Level names, outermost first."""
        return tuple(level.name for level in self.levels)

    def __bool__(self) -> bool:
        return bool(self.levels)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> ScopeLevel:
        found = next((level for level in self.levels if level.name == name), None)
        if found is None:
            hint = did_you_mean(name, self.names) or f"it has {', '.join(self.names) or 'no threads at all'}"
            raise TargetError(f"the target has no level `{name}`", hint=hint)
        return found

    def axis(self, tag: str) -> tuple[str, str, int] | None:
        """(parent, child, dimension) of a launch axis by its name or one of its `tags`; None when there is none."""
        name = self.tags.get(tag, tag)
        for level in self.levels:
            for parent, axes in level.axes.items():
                if name in axes:
                    return parent, level.name, axes.index(name)
        return None

    def index(self, name: str) -> int:
        """Position in the chain; 0 is outermost."""
        return self.levels.index(self[name])

    def fixed_width(self, parent: str, child: str) -> int | None:
        """Members of `child` in one `parent` when every launch has the same number, else None."""
        if parent == child:
            return 1
        level = self[child]
        for outer, width in level.widths.items():
            if outer == parent:
                return width
            rest = self.fixed_width(parent, outer) if outer in self and self.index(outer) > self.index(parent) else None
            if rest is not None:
                return rest * width
        return None
