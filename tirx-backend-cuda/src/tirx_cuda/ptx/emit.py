"""Forms as CUDA C++: a small function with inline assembly for each form that a kernel uses, named after the instruction.

__device__ __forceinline__ float ptx_ex2_approx_f32(float a) {
  float d;
  asm("ex2.approx.f32 %0, %1;" : "=f"(d) : "f"(a));
  return d;
}
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tirx.ir import Call, DType, Expr, IntImm, StringImm

from .forms import Form, Part

__all__ = ["emitted", "register_read"]

_CLASS = {"float32": "f", "float64": "d"}
_BITS = {16: ("h", "unsigned short"), 32: ("r", "unsigned int"), 64: ("l", "unsigned long long")}
_WINDOW = {
    "local": "__cvta_generic_to_local",
    "const": "__cvta_generic_to_constant",
    "param": "__cvta_generic_to_grid_constant",
}
_MEMORY_FAMILIES = frozenset(["ld", "ldu", "st", "red", "atom", "multimem"])  # whose bytes stand in wider registers
_SINK_IN_TEXT = re.compile(r"(?<![\w%])_(?!\w)")
_INDENT = "\n" + " " * 7


def emitted(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """The call of the function for a form; the function becomes part of the prelude."""
    form = call.op
    assert isinstance(form, Form)
    function = _Function(printer, form, call)
    returned = function.returned
    passed = [text for index, text in enumerate(texts) if function.is_parameter(index) and index != returned]
    printer.define(f"{function.name}({', '.join(function.types)})", function.text())
    call_text = f"{function.name}({', '.join(passed)})"
    return f"{texts[returned]} = {call_text}" if returned is not None else call_text


def register_read(printer: Any, call: Call) -> str:
    """The call of the function that reads a special register."""
    register, kind, bits = str(call.attr("register")), printer.type(call.dtype), call.dtype.bits
    name = f"ptx_read_{register.replace('.', '_')}"
    volatile = " volatile" if not call.op.effect.is_pure else ""  # type: ignore[attr-defined]
    text = f'asm{volatile}("mov.u{bits} %0, %%{register};" : "={_BITS[bits][0]}"(value));'
    head = f"__device__ __forceinline__ {kind} {name}() {{"
    printer.define(f"{name}()", f"{head}\n  {kind} value;\n  {text}\n  return value;\n}}")
    return f"{name}()"


class _Function:
    """One function: its parameters, and the operands of its assembly."""

    def __init__(self, printer: Any, form: Form, call: Call) -> None:
        self.printer = printer
        self.form = form
        self.args: tuple[Expr, ...] = call.args
        self.guard = call.args[-1] if form is not form.plain else None
        self.preserved = bool(call.attr("preserve_dst"))
        self.outputs: list[str] = []
        self.inputs: list[str] = []
        self.before: list[str] = []  # assembly before the instruction
        self.after: list[str] = []  # and behind it
        self.locals: list[str] = []
        self.stores: list[str] = []
        self.returned = self._returned()
        self.name = self._name()
        self.parameters, self.types = self._parameters()

    def _returned(self) -> int | None:
        """The one operand that is written, which the function returns."""
        written = [i for i, part in enumerate(self.form.parts) if part.rw != "r" and not _is_sink(self.args[i])]
        if len(written) == 1 and self.form.parts[written[0]].rw == "w" and self.guard is None:
            return written[0]
        return None

    def _name(self) -> str:
        words = re.sub(r"\W+", "_", self.form.mnemonic)
        numbers = [str(arg.value).replace("-", "m") for part, arg in self._immediates()]
        dropped = any(map(_is_sink, self.args)) or _SINK_IN_TEXT.search(self.form.template) is not None
        guard = [] if self.guard is None else ["if_keep" if self.preserved else "if"]
        return "_".join(["ptx", words, *numbers, *guard, *self._other_result()]) + ("_sink" if dropped else "")

    def _other_result(self) -> list[str]:
        """The type of the result where it is not the instruction's own: functions cannot differ by their result alone."""
        if self.returned is None:
            return []
        kind, dtype = self.form.parts[self.returned].type, self.args[self.returned].dtype
        return [] if kind is None or kind.dtype == str(dtype) else [str(dtype)]

    def _immediates(self) -> list[tuple[Part, Any]]:
        return [(p, a) for p, a in zip(self.form.parts, self.args, strict=False) if p.kind == "imm"]

    def is_parameter(self, index: int) -> bool:
        """Whether an argument is passed, not written into the text."""
        if index >= self.form.arity:
            return True
        return self.form.parts[index].kind != "imm" and not _is_sink(self.args[index])

    def _parameters(self) -> tuple[list[str], list[str]]:
        made, types = [], []
        for index, part in enumerate(self.form.parts):
            if self.is_parameter(index) and index != self.returned:
                kind = self._type(part, self.args[index])
                made.append(f"{kind}{'&' if part.rw != 'r' else ''} {part_name(part)}")
                types.append(kind)
        if self.guard is not None:
            made.append("bool pred")
            types.append("bool")
        return made, types

    def _type(self, part: Part, arg: Expr) -> str:
        if part.kind == "memory" and arg.dtype.is_handle:
            return "const void*"
        return str(self.printer.type(arg.dtype))

    # ---- operands of the assembly ---------------------------------------------------------------------------------------

    def text(self) -> str:
        """The definition of the function."""
        names = [self._bound(index, part) for index, part in enumerate(self.form.parts)]
        guard = self._guard()
        body = re.sub(r"%(\d+)", lambda found: names[int(found[1])], self.form.template)
        instruction = f"{guard}{self.form.mnemonic}{' ' if body else ''}{body};"
        lines = [*self.before, instruction, *self.after]
        result = "void"
        declared, ending = list(self.locals), list(self.stores)
        if self.returned is not None:
            result = self._type(self.form.parts[self.returned], self.args[self.returned])
            name = part_name(self.form.parts[self.returned])
            declared.insert(0, f"{result} {name};")
            ending.append(f"return {name};")
        body_lines = [*declared, self._assembly(self._numbered(lines)), *ending]
        head = f"__device__ __forceinline__ {result} {self.name}({', '.join(self.parameters)}) {{"
        return "\n  ".join([head, *body_lines]) + "\n}"

    def _numbered(self, lines: list[str]) -> list[str]:
        """`@o0@` and `@i0@` as operand numbers; outputs count first."""
        count = len(self.outputs)

        def number(found: re.Match[str]) -> str:
            return f"%{int(found[2]) + (count if found[1] == 'i' else 0)}"

        return [re.sub(r"@([oi])(\d+)@", number, line) for line in lines]

    def _assembly(self, lines: list[str]) -> str:
        volatile = " volatile" if self.form.volatile else ""
        if len(lines) > 1:
            pieces = ['"{"', *(f'"  {line}"' for line in lines), '"}"']
        else:
            pieces = [f'"{lines[0]}"']
        clobber = ' : "memory"' if self.form.touches_memory else ""
        sections = [", ".join(self.outputs), ", ".join(self.inputs)]
        if clobber or sections[1]:
            tail = f" : {sections[0]}" + f" : {sections[1]}" + clobber
        else:
            tail = f" : {sections[0]}" if sections[0] else ""
        tail = tail.replace(" :  :", " : :").replace(":  :", ": :")
        if len(pieces) == 1 and len(pieces[0]) + len(tail) < 110:
            return f"asm{volatile}({pieces[0]}{tail});"
        text = _INDENT.join(pieces)
        parts = [part.strip() for part in re.split(r" (?=: )", tail) if part.strip()]
        return f"asm{volatile}({text}{_INDENT}{_INDENT.join(parts)});"

    def _guard(self) -> str:
        if self.guard is None:
            return ""
        self.before[:0] = [".reg .pred guard;", f"setp.ne.b32 guard, {self._input('r', '(int)pred')}, 0;"]
        return "@guard "

    def _input(self, constraint: str, value: str) -> str:
        self.inputs.append(f'"{constraint}"({value})')
        return f"@i{len(self.inputs) - 1}@"

    def _output(self, constraint: str, value: str, rw: str) -> str:
        sign = "+" if rw == "rw" or self.preserved else "="
        self.outputs.append(f'"{sign}{constraint}"({value})')
        return f"@o{len(self.outputs) - 1}@"

    def _bound(self, index: int, part: Part) -> str:
        """How the instruction names an operand."""
        arg, name = self.args[index], part_name(part)
        if _is_sink(arg):
            return "_"
        if part.kind == "imm":
            assert isinstance(arg, IntImm)
            return str(arg.value)
        if part.kind == "memory":
            return self._address(part, arg.dtype, name)
        assert part.type is not None
        if part.type.kind == "pred":
            return self._predicate(part, arg.dtype, name)
        if part.type.bits == 128:
            return self._quad(part, arg.dtype, name)
        if arg.dtype.total_bits == 8:
            return self._byte(part, name)
        constraint, value = self._place(part, arg.dtype, name)
        return self._input(constraint, value) if part.rw == "r" else self._output(constraint, value, part.rw)

    def _place(self, part: Part, dtype: DType, name: str) -> tuple[str, str]:
        """The register class and the lvalue of a parameter; where bits are wanted, a float is given as its bits."""
        bits = part.type is not None and (part.type.kind == "b" or part.type.name == "tf32")
        if dtype.name in _CLASS and not bits:
            return _CLASS[dtype.name], name
        constraint, word = _BITS[dtype.total_bits]
        plain = dtype.is_integer and dtype.lanes == 1
        return constraint, name if plain else f"reinterpret_cast<{word}&>({name})"

    def _address(self, part: Part, dtype: DType, name: str) -> str:
        if not dtype.is_handle:
            return self._input(_BITS[dtype.bits][0], name)
        family = part.space.partition("::")[0]
        if family == "shared":
            return self._input("r", f"(unsigned int)__cvta_generic_to_shared({name})")
        window = _WINDOW.get(family)
        return self._input("l", f"{window}({name})" if window else name)

    def _predicate(self, part: Part, dtype: DType, name: str) -> str:
        register = f"p_{name}"
        self.before.append(f".reg .pred {register};")
        if part.rw == "r":
            self.before.append(f"setp.ne.b32 {register}, {self._input('r', f'(int){name}')}, 0;")
            return register
        word = name if dtype.is_integer and dtype.bits == 32 else f"{name}_word"
        if word != name:
            self.locals.append(f"unsigned int {word}{f' = {name}' if self.preserved else ''};")
            self.stores.append(f"{name} = {word}{' != 0' if dtype.is_bool else ''};")
        if self.preserved:
            self.before.append(f"setp.ne.b32 {register}, {self._output('r', word, part.rw)}, 0;")
            self.after.append(f"selp.b32 @o{len(self.outputs) - 1}@, 1, 0, {register};")
        else:
            self.after.append(f"selp.b32 {self._output('r', word, part.rw)}, 1, 0, {register};")
        return register

    def _quad(self, part: Part, dtype: DType, name: str) -> str:
        """128 bits as two halves of 64."""
        register, whole = f"q_{name}", f"reinterpret_cast<unsigned long long(&)[2]>({name})"
        self.before.append(f".reg .b128 {register};")
        if part.rw == "r":
            low, high = (self._input("l", f"{whole}[{half}]") for half in range(2))
            self.before.append(f"mov.b128 {register}, {{{low}, {high}}};")
        else:
            low, high = (self._output("l", f"{whole}[{half}]", part.rw) for half in range(2))
            self.after.append(f"mov.b128 {{{low}, {high}}}, {register};")
        return register

    def _byte(self, part: Part, name: str) -> str:
        """A byte travels in a register of 16 bits."""
        register = f"b_{name}"
        narrow = self.form.row.family not in _MEMORY_FAMILIES or self.form.mnemonic.startswith("st.async")
        if narrow:
            self.before.append(f".reg .b8 {register};")
        if part.rw == "r":
            wide = self._input("h", f"(unsigned short)reinterpret_cast<unsigned char&>({name})")
            if narrow:
                self.before.append(f"cvt.u8.u16 {register}, {wide};")
            return register if narrow else wide
        word = f"{name}_word"
        self.locals.append(
            f"unsigned short {word}{' = reinterpret_cast<unsigned char&>(' + name + ')' if self.preserved else ''};"
        )
        wide = self._output("h", word, part.rw)
        if narrow:
            self.after.append(f"cvt.u16.u8 {wide}, {register};")
        self.stores.append(f"reinterpret_cast<unsigned char&>({name}) = (unsigned char){word};")
        return register if narrow else wide


def part_name(part: Part) -> str:
    """The name of a parameter."""
    name = re.sub(r"\W", "_", part.name)
    return f"{name}_" if name in _RESERVED else name


_RESERVED = frozenset(["pred", "int", "float", "double", "mask_", "this", "union", "default"])


def _is_sink(arg: Expr) -> bool:
    return isinstance(arg, StringImm)
