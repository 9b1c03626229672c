"""Read the prototypes and constants of a Unified Runtime header.

The compiler's preprocessor and pycparser read the header. What comes out needs no header any more: each type is
reduced to what the calling convention knows of it (a pointer is `void *`, an enumeration is `int`), so that one
library can serve runtimes whose headers differ.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

INTEGERS = {"_Bool", "char", "int", "unsigned int", "size_t", "uintptr_t"} | {
    f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)
}

# What the hand-written part needs of the headers, under the same names.
CONSTANTS = (
    "UR_RESULT_ERROR_UNINITIALIZED",
    "UR_STRUCTURE_TYPE_QUEUE_PROPERTIES",
    "UR_QUEUE_FLAG_PROFILING_ENABLE",
    "UR_QUEUE_FLAG_DISCARD_EVENTS",
    "UR_QUEUE_INFO_REFERENCE_COUNT",
    "UR_ADAPTER_INFO_REFERENCE_COUNT",
    "UR_DEVICE_INFO_NAME",
    "UR_DEVICE_INFO_PARENT_DEVICE",
    "UR_DEVICE_INFO_REFERENCE_COUNT",
    "UR_DEVICE_INFO_DRIVER_VERSION",
    "UR_DEVICE_INFO_PROFILING_TIMER_RESOLUTION",
    "UR_EVENT_INFO_COMMAND_EXECUTION_STATUS",
    "UR_EVENT_STATUS_COMPLETE",
    "UR_EVENT_STATUS_QUEUED",
    "UR_KERNEL_INFO_FUNCTION_NAME",
    "UR_PROFILING_INFO_COMMAND_QUEUED",
    "UR_PROFILING_INFO_COMMAND_SUBMIT",
    "UR_PROFILING_INFO_COMMAND_START",
    "UR_PROFILING_INFO_COMMAND_END",
)


@dataclass(frozen=True)
class Parameter:
    name: str
    spelled: str  # the type as the header has it, without qualifiers at the top: "const ur_event_handle_t *"
    reduced: str  # "void *", "uint32_t", "struct ur_rect_offset_t"

    @property
    def out(self) -> str | None:
        """The type that the call writes through this parameter, None where it writes nothing."""
        if self.spelled.endswith("*") and not self.spelled.startswith("const "):
            return self.spelled.removesuffix("*").strip()
        return None


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]

    def reduced(self) -> tuple[str, ...]:
        return tuple(p.reduced for p in self.parameters)


@dataclass(frozen=True)
class Header:
    functions: dict[str, Function]
    constants: dict[str, int]  # enumerators
    structs: dict[str, tuple[tuple[str, str], ...]]  # by value in a prototype: (reduced type, field)


def read_header(path: Path, compiler: str = "cc") -> Header:
    """Read one header. Raises `CalledProcessError` where the compiler refuses it, `ParseError` where pycparser does."""
    # The attributes of compilers are no C; the header uses `bool` and forgets where it comes from.
    command = [
        compiler,
        "-E",
        "-P",
        "-include",
        "stdbool.h",
        "-D__attribute__(x)=",
        "-D__extension__=",
        str(path),
    ]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    tree = c_parser.CParser().parse(re.sub(r"\[\[\w+\]\]", "", text), str(path))
    return _Reader(tree).header()


class _Reader:
    def __init__(self, tree: c_ast.FileAST) -> None:
        self.typedefs: dict[str, c_ast.Node] = {}
        self.structs: dict[str, c_ast.Struct] = {}
        self.used: dict[str, tuple[tuple[str, str], ...]] = {}
        self.constants: dict[str, int] = {}
        self.declared: list[c_ast.Decl] = []
        for node in tree.ext:
            if isinstance(node, c_ast.Typedef):
                self.typedefs[node.name] = node.type
                self._inside(node.type)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
                self.declared.append(node)
            elif isinstance(node, c_ast.Decl):
                self._inside(node)

    def header(self) -> Header:
        functions = {d.name: self._function(d) for d in self.declared if re.match(r"ur[A-Z]", d.name)}
        return Header(functions, self.constants, self.used)

    def _inside(self, node: c_ast.Node) -> None:
        inner = node.type if isinstance(node, (c_ast.TypeDecl, c_ast.Decl)) else node
        if isinstance(inner, c_ast.Struct) and inner.decls:
            self.structs[inner.name] = inner
        if isinstance(inner, c_ast.Enum) and inner.values:
            value = -1
            for item in inner.values.enumerators:
                value = self._value(item.value) if item.value else value + 1
                self.constants[item.name] = value

    def _value(self, node: c_ast.Node) -> int:
        """Evaluate the constant expressions that the header uses."""
        if isinstance(node, c_ast.Constant):
            return int(node.value.rstrip("uUlL"), 0)
        if isinstance(node, c_ast.ID):
            return self.constants[node.name]
        if isinstance(node, c_ast.UnaryOp) and node.op in "-~":
            value = self._value(node.expr)
            return -value if node.op == "-" else ~value
        if isinstance(node, c_ast.BinaryOp) and node.op in ("<<", "|", "&", "+"):
            left, right = self._value(node.left), self._value(node.right)
            return {"<<": left << right, "|": left | right, "&": left & right, "+": left + right}[node.op]
        raise ValueError(f"{node.coord}: an enumerator that is not understood")

    def _function(self, node: c_ast.Decl) -> Function:
        parameters = []
        for p in node.type.args.params if node.type.args else ():
            if isinstance(p, c_ast.Typename):  # (void)
                continue
            declared = c_ast.Typename(None, [], None, p.type)
            spelled = re.sub(r"\s*\*\s*", " *", c_generator.CGenerator().visit(_unnamed(declared))).replace(
                "* *", "**"
            )
            if not isinstance(p.type, c_ast.PtrDecl):
                spelled = spelled.removeprefix("const ")
            parameters.append(Parameter(p.name, spelled, self._reduced(p.type)))
        return Function(node.name, tuple(parameters))

    def _reduced(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.PtrDecl):
            return "void *"
        inner = node.type
        if isinstance(inner, c_ast.Enum):
            return "int"
        if isinstance(inner, c_ast.Struct):
            fields = self.structs[inner.name].decls
            self.used[inner.name] = tuple((self._reduced(f.type), f.name) for f in fields)
            return f"struct {inner.name}"
        name = " ".join(inner.names)
        if name in INTEGERS:
            return name
        if name in self.typedefs:
            return self._reduced(self.typedefs[name])
        raise ValueError(f"{node.coord}: the type {name} is not understood")


def _unnamed(node: c_ast.Node) -> c_ast.Node:
    """The declaration without the name in it, as a generator prints a type."""
    inner = node.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = None
    return node
