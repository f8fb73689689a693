"""Plain C as a dialect: the printer knows nothing of any machine."""

from __future__ import annotations

from tirx.codegen.dialect import CDialect, CType, Helper
from tirx.codegen.expr import ExprPrinter
from tirx.codegen.names import Names
from tirx.codegen.prelude import Prelude
from tirx.codegen.stmt import StmtPrinter
from tirx.codegen.usage import Usage
from tirx.codegen.writer import SourceWriter
from tirx.intrinsic import Emission
from tirx.ir import Expr, Seq, Stmt

TYPES = {
    "bool": CType("bool"),
    "int8": CType("signed char", promoted=True),
    "int16": CType("short", promoted=True),
    "int32": CType("int"),
    "int64": CType("long", suffix="L"),
    "uint8": CType("unsigned char", promoted=True),
    "uint32": CType("unsigned", suffix="u"),
    "float32": CType("float", literal="{0}f", infinity="INFINITY", nan="NAN", constants="math.h"),
    "float64": CType("double", infinity="INFINITY", nan="NAN", constants="math.h"),
    "float32x2": CType("float2", lanes=(".x", ".y"), make="(float2){{{0}}}"),
    "float32x4": CType("float4", lanes=(".x", ".y", ".z", ".w"), make="(float4){{{0}}}", native=("+",)),
}


def plain_c() -> CDialect:
    """The tables."""
    return CDialect(
        "c",
        types=TYPES,
        reserved=frozenset({"int", "while", "expf"}),
        launch_axes={"cta.x": "group_id(0)", "thread.x": "local_id(0)"},
        launch_type="int32",
        scopes={"local": "", "shared": "local_memory "},
        kernel="kernel void",
        function="static",
        restrict="restrict",
        vector="struct {name} {{ {element} lane[{lanes}]; }};",
        assertion="fail({0});",
        helpers={"floordiv": Helper("floordiv", "/* floordiv */")},
        calls={"min": "min", "max": "max", "floordiv": "floordiv", "floormod": "floormod", "fmod": "fmod"},
    )


EMISSIONS = {
    "exp": Emission("exp", "c", "expf({0})", includes=("math.h",)),
    "tvm_storage_sync": Emission("tvm_storage_sync", "c", "barrier()"),
    "popcount": Emission("popcount", "c", lambda printer, call, texts: f"{texts[0]} & 1"),
}


def printer(body: Stmt | None = None) -> ExprPrinter:
    """An expression printer with fresh names and prelude."""
    dialect = plain_c()
    usage = Usage(body if body is not None else Seq(()))
    return ExprPrinter(dialect, Prelude(dialect), EMISSIONS.get, names=Names(dialect.reserved), usage=usage)


def text(expr: Expr) -> str:
    """One expression."""
    return printer().text(expr)


def lines(*stmts: Stmt) -> list[str]:
    """Statements, as the lines of a function body."""
    body = Seq(stmts)
    out = SourceWriter()
    StmtPrinter(printer(body), out, lambda buffer, kind: buffer.name).stmt(body)
    return out.text().rstrip("\n").split("\n")
