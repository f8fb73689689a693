"""What dialects differ in: address spaces, functions that convert, overloading, dynamic memory as an argument."""

from __future__ import annotations

from tests.core.codegen.dialect import TYPES
from tirx.codegen.dialect import CDialect, CType, Helper
from tirx.codegen.expr import ExprPrinter
from tirx.codegen.function import CGenerator
from tirx.codegen.names import Names
from tirx.codegen.prelude import Prelude
from tirx.codegen.usage import Usage
from tirx.intrinsic.core.memory import ptr_byte_offset, undef
from tirx.ir import (
    LT,
    Add,
    Alloc,
    Broadcast,
    Buffer,
    BufferLoad,
    BufferStore,
    Cast,
    DType,
    Expr,
    FloorDiv,
    IRModule,
    PointerType,
    PrimFunc,
    Ramp,
    Select,
    Seq,
    Var,
    const,
)  # fmt: skip
from tirx.transform.launch import Launch

WIDE = {
    **TYPES,
    "float16": CType("ushort"),
    "float32x4": CType(
        "float4", lanes=(".x", ".y", ".z", ".w"), make="(float4)({0})", splat="(float4)({0})", native=("+",)
    ),
    "int32x4": CType("int4", lanes=(".x", ".y", ".z", ".w"), make="(int4)({0})", splat="(int4)({0})"),
    "boolx4": CType("uchar4", lanes=(".x", ".y", ".z", ".w"), make="(uchar4)({0})"),
}


def spaced() -> CDialect:
    """A language with address spaces, without overloading, whose halves are bits."""
    return CDialect(
        "spaced",
        types=WIDE,
        reserved=frozenset({"dynamic"}),
        launch_axes={},
        scopes={"local": "", "shared": "near ", "shared.dyn": "near launch "},
        dynamic="near launch ",
        dynamic_argument="dynamic",
        spaces={"global": "far ", "shared": "near ", "shared.dyn": "near "},
        kernel="kernel void",
        function="static",
        helpers={"half_to_float": Helper("half_to_float", "float half_to_float(ushort);")},
        calls={
            "cast.float16.float32": "half_to_float",
            "cast.float32.float16": "float_to_half",
            "floordiv.int8": "floordiv_char",
        },
        bridges={"float16": "float32"},
        overloads=False,
        listed=16,
    )


def printer() -> ExprPrinter:
    dialect = spaced()
    return ExprPrinter(
        dialect, Prelude(dialect), lambda name: None, names=Names(dialect.reserved), usage=Usage(Seq(()))
    )


def text(expr: Expr) -> str:
    return printer().text(expr)


H = Var("h", DType("float16"))
I = Var("i", DType("int32"))
A = Buffer("A", (64,), "float32", layout=None)
NEAR = Buffer("part", (64,), "float32", scope="shared", layout=None)


def test_pointers_say_where_they_point() -> None:
    row = (Ramp(I * 4, const(1), 4),)
    assert text(BufferLoad(A, row)) == "*(far float4*)&A[i * 4]"
    assert text(BufferLoad(NEAR, row)) == "*(near float4*)&part[i * 4]"
    assert text(ptr_byte_offset(NEAR.data, I, "int32")).startswith("(near int*)((near unsigned char*)")


def test_functions_convert() -> None:
    assert text(Cast(DType("float32"), H)) == "half_to_float(h)"
    assert text(Cast(DType("float16"), I)) == "float_to_half((float)i)"
    assert text(Cast(DType("int32"), H)) == "(int)half_to_float(h)"
    assert text(Cast(DType("bool"), H)) == "half_to_float(h) != 0.0f"
    assert text(Cast(DType("float32"), I)) == "(float)i"


def test_a_helper_that_converts_comes_into_the_prelude() -> None:
    made = printer()
    made.text(Cast(DType("float32"), H))
    assert made.prelude.sections() == ["float half_to_float(ushort);"]


def test_without_overloading_each_function_has_its_own_name() -> None:
    a, b = Var("a", DType("float32x4")), Var("b", DType("int32x4"))
    made = printer()
    assert made.text(Add(a, a)) == "a + a"
    assert made.text(LT(a, a)) == "lt_float32x4_float32x4(a, a)"
    assert made.text(Cast(DType("float32x4"), b)) == "to_float32x4_int32x4(b)"
    assert (
        made.text(Select(LT(a, a), a, Broadcast(const(0.0), 4)))
        == "select_boolx4_float32x4_float32(lt_float32x4_float32x4(a, a), a, 0.0f)"
    )
    assert not any("operator" in section for section in made.prelude.sections())


def test_no_templates() -> None:
    small = Var("s", DType("int8"))
    assert "floordiv_char(s, " in text(FloorDiv(small, Var("t", DType("int8"))))
    assert text(undef("float32x4")) == "(float4)(0)"


def kernel(dynamic: Buffer) -> PrimFunc:
    place = Var("A", PointerType(DType("float32"), "global"))
    out = Buffer("A", (64,), "float32", data=place, layout=None)
    body = Seq(
        (
            Alloc(dynamic),
            BufferStore(dynamic, const(1.0), (const(0),)),
            BufferStore(out, BufferLoad(dynamic, (const(0),)), (const(0),)),
        )
    )
    launch = Launch(("thread.x",), (1,), dynamic_shared=dynamic)
    return PrimFunc("k", (place,), body, {"role": "device", "launch": launch, "global_symbol": "k"})


def test_dynamic_memory_is_the_last_parameter() -> None:
    func = kernel(Buffer("scratch", (64,), "float32", scope="shared.dyn", layout=None))
    source = CGenerator(spaced(), lambda name: None).module(IRModule({"k": func}), "spaced", ".x").text
    assert "kernel void k(far float* A, near launch unsigned char* dynamic) {" in source
    assert "  near float* scratch = (near float*)dynamic;" in source


class Opened(CGenerator):
    """Begins each function with a line of its own."""

    def opening(self, func: PrimFunc) -> list[str]:
        return ["begin();"]


def test_a_generator_may_begin_functions() -> None:
    func = kernel(Buffer("scratch", (64,), "float32", scope="shared.dyn", layout=None))
    source = Opened(spaced(), lambda name: None).module(IRModule({"k": func}), "spaced", ".x").text
    assert source.splitlines()[1] == "  begin();"
