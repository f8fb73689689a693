"""Names: where the rows of a family stand, and how Python spells PTX's words."""

from __future__ import annotations

import keyword

__all__ = ["ALIASES", "FAMILIES", "chain_text", "python_name", "token_of"]

# family -> table. A test compares it with the tables; reading them for it would cost start-up time.
FAMILIES: dict[str, str] = {}
for _table, _families in {
    "arith": "abs add addc bfe bfi bfind bmsk brev clmad clz copysign cos div dp2a dp4a ex2 fma fns lg2 mad mad24 madc max min"
    " mul mul24 neg popc rcp rem rsqrt sad sin sqrt sub subc szext tanh testp",
    "logic": "and cnot lop3 not or prmt selp set setp shf shl shr slct xor",
    "convert": "cvt cvta getctarank isspacep mapa mov",
    "memory": "ld ldu st prefetch prefetchu applypriority discard createpolicy",
    "atomic": "atom red",
    "copy": "cp",
    "warp": "activemask elect match redux shfl vote",
    "matrix": "ldmatrix stmatrix movmatrix mma wmma",
    "sync": "bar barrier membar fence griddepcontrol mbarrier",
    "tcgen05": "tcgen05",
    "wgmma": "wgmma",
    "video": "vabsdiff vadd vmad vmax vmin vset vshl vshr vsub",
    "misc": "exit brkpt trap nanosleep pmevent setmaxnreg clusterlaunchcontrol tensormap multimem fabric spcompress spdecompress",
}.items():
    FAMILIES.update(dict.fromkeys(_families.split(), _table))

# first words that are written together
ALIASES = {
    "cvt_pack": "cvt.pack", "elect_sync": "elect.sync", "multimem_cp": "multimem.cp", "multimem_ld_reduce": "multimem.ld_reduce",
    "multimem_red": "multimem.red", "multimem_red_async": "multimem.red.async", "multimem_st": "multimem.st",
    "multimem_st_async": "multimem.st.async", "red_async": "red.async", "redux_sync": "redux.sync", "shfl_sync": "shfl.sync",
    "st_async": "st.async", "st_bulk": "st.bulk", "tensormap_cp_fenceproxy": "tensormap.cp_fenceproxy",
    "tensormap_replace": "tensormap.replace", "vote_sync": "vote.sync",
}  # fmt: skip
_SOFT = frozenset({"global"})


def python_name(token: str) -> str | None:
    """How a chain spells a word of PTX; None where Python cannot."""
    name = token.replace("::", "__")
    if keyword.iskeyword(name):
        return name + "_"
    return name if name.isidentifier() else None


def token_of(name: str) -> str:
    """The word of PTX that a chain spells as `name`."""
    word = name.rstrip("_") if name.endswith("_") else name
    if word.startswith("_") and word[1:2].isdigit():
        word = word[1:]
    return word.replace("__", "::")


def chain_text(mnemonic: str) -> str:
    """`.ld.global_.f32`, or `["tcgen05.ld.32x32b.x1"]` where a word is no name."""
    names = [python_name(token) for token in mnemonic.split(".")]
    if None in names:
        return f'["{mnemonic}"]'
    return "".join(f".{name}" for name in names)
