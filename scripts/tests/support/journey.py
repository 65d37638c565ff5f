"""Where a value goes that a person types: the files whose functions it is handed to, in the order
in which the code is written. Read from the code alone."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from restbench import ROOT

SCRIPTS = ROOT / "scripts"


@cache
def _statements(module: str) -> list[ast.stmt]:
    path: Path = SCRIPTS / (module.replace(".", "/") + ".py")
    return ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []


@cache
def _meaning(module: str, name: str) -> tuple[str, ast.FunctionDef] | str | None:
    """What a name of a module stands for: a function of ours with its module, or a module."""
    for each in _statements(module):
        if isinstance(each, ast.FunctionDef) and each.name == name:
            return module, each
        if isinstance(each, ast.ImportFrom) and each.module:
            for one in each.names:
                if name == (one.asname or one.name):
                    inner = f"{each.module}.{one.name}"
                    return inner if _statements(inner) else _meaning(each.module, one.name)
    return None


class Journey:
    """Follows a parameter, what it is called where it is passed on, and what is made of it by a
    call that it is given to. A function is followed once, and entered each time."""

    def __init__(self, module: str, function: str, parameter: str) -> None:
        """From this parameter on; the trip is over then."""
        self.stays: list[str] = []
        """A module each time that it is another one than before."""
        self._passed: set[tuple[str, str]] = set()
        found = _meaning(module, function)
        assert isinstance(found, tuple), f"{module} has no function {function}"
        self._enter(*found, {parameter})

    def _enter(self, module: str, function: ast.FunctionDef, held: set[str]) -> None:
        if self.stays[-1:] != [module]:
            self.stays.append(module)
        if (module, function.name) not in self._passed:
            self._passed.add((module, function.name))
            for each in function.body:
                self._follow(module, each, held)

    def _follow(self, module: str, node: ast.AST, held: set[str]) -> None:
        for each in ast.iter_child_nodes(node):
            self._follow(module, each, held)
        if isinstance(node, ast.Assign) and _is_held(node.value, held):
            names = (each for target in node.targets for each in ast.walk(target))
            held |= {each.id for each in names if isinstance(each, ast.Name)}
        if isinstance(node, ast.Call):
            self._call(module, node, held)

    def _call(self, module: str, call: ast.Call, held: set[str]) -> None:
        found = None
        match call.func:
            case ast.Name(name):
                found = _meaning(module, name)
            case ast.Attribute(ast.Name(of), name) if isinstance(it := _meaning(module, of), str):
                found = _meaning(it, name)
        if isinstance(found, tuple):
            names = [each.arg for each in (*found[1].args.posonlyargs, *found[1].args.args)]
            given = dict(zip(names, call.args, strict=False))
            given |= {each.arg: each.value for each in call.keywords if each.arg}
            if taken := {name for name, each in given.items() if _is_held(each, held)}:
                self._enter(*found, taken)


def _is_held(node: ast.AST, held: set[str]) -> bool:
    """Whether an expression is the value, or what a call makes of it."""
    match node:
        case ast.Name(name):
            return name in held
        case ast.Call(args=args, keywords=keywords):
            return any(_is_held(each, held) for each in (*args, *(one.value for one in keywords)))
        case ast.BoolOp() | ast.IfExp() | ast.Starred():
            return any(_is_held(each, held) for each in ast.iter_child_nodes(node))
    return False
