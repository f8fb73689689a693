"""The intermediate representation: nodes, types, buffers, functions; walking, equality. Knows no layer above it."""

from __future__ import annotations

from .buffer import DEFAULT_LAYOUT, Buffer, Scalar
from .build import as_expr, binary, cast, const, logical_and, logical_not, logical_or, truth, unary, unify
from .context import active_builder, current_span, emit, late, late_bind, set_builder
from .dtype import (
    BOOL,
    FLOAT32,
    HANDLE,
    INT32,
    INT64,
    UINT32,
    VOID,
    DType,
    PointerType,
    dtype_names,
)  # fmt: skip
from .equal import structural_equal, structural_hash
from .expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Binary,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Broadcast,
    BufferLoad,
    BufferRegion,
    Call,
    Cast,
    Compare,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
    IndexFunction,
    IntImm,
    Let,
    LShift,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Not,
    Op,
    Or,
    Ramp,
    Range,
    RShift,
    Select,
    Shuffle,
    StringImm,
    Sub,
    Tuple,
    Unary,
    Var,
    call_attrs,
)  # fmt: skip
from .function import IRModule, Param, PrimFunc, variable_of
from .layout import Layout
from .node import Field, Node
from .stmt import (
    Alloc,
    Assert,
    Attr,
    Bind,
    Break,
    BufferStore,
    Continue,
    Decl,
    Evaluate,
    For,
    If,
    Launch,
    Return,
    ScopeIdDef,
    Seq,
    Stmt,
    TileCall,
    While,
    seq,
)  # fmt: skip
from .visit import Substitution, definitions, map_bodies, mask_of, post_order, rewrite, substitute, variables, walk

__all__ = [
    "BOOL", "DEFAULT_LAYOUT", "EQ", "FLOAT32", "GE", "GT", "HANDLE", "INT32", "INT64", "LE", "LT", "NE", "UINT32", "VOID",
    "Add", "Alloc", "And", "Assert", "Attr", "Binary", "Bind", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor",
    "Break", "Broadcast", "Buffer", "BufferLoad", "BufferRegion", "BufferStore", "Call", "Cast", "Compare", "Continue",
    "DType", "Decl", "Div", "Evaluate", "Expr", "Field", "FloatImm", "FloorDiv", "FloorMod", "For", "GlobalVar",
    "IRModule", "If", "IndexFunction", "IntImm", "LShift", "Launch", "Layout", "Let", "Max", "Min", "Mod", "Mul", "Neg", "Node", "Not",
    "Op", "Or", "Param", "PointerType", "PrimFunc", "RShift", "Ramp", "Range", "Return", "Scalar", "ScopeIdDef", "Select", "Seq",
    "Shuffle", "Stmt", "StringImm", "Sub", "Substitution", "TileCall", "Tuple", "Unary", "Var", "While", "active_builder", "as_expr",
    "binary", "call_attrs", "cast", "const", "current_span", "definitions", "dtype_names", "emit", "late", "late_bind",
    "logical_and", "logical_not", "logical_or", "map_bodies", "mask_of", "post_order", "rewrite", "seq", "set_builder",
    "structural_equal", "structural_hash", "substitute", "truth", "unary", "unify", "variable_of", "variables", "walk",
]  # fmt: skip
