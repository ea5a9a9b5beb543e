"""calculator: arithmetic on numbers, with bounds on time and size."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from gh_tui.agent.tools.base import parameters
from gh_tui.errors import ToolError
from gh_tui.providers.base import ToolSpec

_MAX_LENGTH = 500
_MAX_BITS = 4096

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "cos": math.cos,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log10": math.log10,
    "max": max,
    "min": min,
    "round": round,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
}
_CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e}
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "^": "**", "，": ",", "（": "(", "）": ")"})


class Calculator:
    """`calculator(expression)`."""

    spec = ToolSpec(
        "calculator",
        "Compute an arithmetic expression.",
        parameters({"expression": "such as (3 + 4) * 2 ** 5 or sqrt(2)"}),
    )

    def preview(self, arguments: Mapping[str, Any]) -> None:
        """Arithmetic needs no approval."""

    async def run(self, arguments: Mapping[str, Any]) -> str:
        """The value as text."""
        return str(calculate(arguments["expression"]))


def calculate(expression: str) -> int | float:
    """Evaluate arithmetic: + - * / // % **, parentheses, a few functions, pi and e.

    Raises:
        ToolError: if it is not arithmetic, too long, or has no value.
    """
    text = expression.translate(_SIGNS).strip()
    if len(text) > _MAX_LENGTH:
        raise ToolError(f"the expression is longer than {_MAX_LENGTH} characters")
    try:
        value: int | float = _value(ast.parse(text, mode="eval").body)
        str(value)
    except (SyntaxError, RecursionError) as error:
        raise ToolError(f"not an arithmetic expression: {expression}") from error
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ToolError(f"{expression}: {error}") from error
    return value


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _binary(op, _value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(arg) for arg in args))
        case _:
            raise ToolError(f"only arithmetic is computed, not: {ast.unparse(node)}")


def _check_power(base: int, exponent: int) -> None:
    if exponent > 0 and base.bit_length() * exponent > _MAX_BITS:
        raise ToolError("the power is too large")


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        _check_power(left, right)
    value = _BINARY[type(op)](left, right)
    if isinstance(value, complex):
        raise ToolError("the value is not a real number")
    return value
