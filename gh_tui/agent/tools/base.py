"""The shape of a tool and the checks that all tools share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gh_tui.errors import ToolError
from gh_tui.providers.base import ToolSpec


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives back; `ok` is False when the agent should see it as a failure."""

    text: str
    ok: bool = True


class Tool(Protocol):
    """One thing the agent can do."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told of it."""
        ...

    def preview(self, arguments: Mapping[str, Any]) -> str | None:
        """The whole effect in words if the user must approve it, else None.

        Called in a thread, as it may look at the disk.

        Raises:
            ToolError: if the arguments can never be run.
        """
        ...

    async def run(self, arguments: Mapping[str, Any]) -> str:
        """Do it; the text goes to the agent.

        Raises:
            ToolError: if it was refused or failed.
        """
        ...


def check_arguments(spec: ToolSpec, arguments: Mapping[str, Any]) -> None:
    """Hold arguments against the tool's own schema: required, known, plain types.

    Raises:
        ToolError: names the argument that is wrong.
    """
    properties: Mapping[str, Any] = spec.parameters.get("properties", {})
    for name in spec.parameters.get("required", []):
        if name not in arguments:
            raise ToolError(f"{spec.name} needs the argument {name!r}")
    for name, value in arguments.items():
        if name not in properties:
            known = ", ".join(properties) or "none"
            raise ToolError(f"{spec.name} has no argument {name!r}; it has: {known}")
        if not _fits(properties[name].get("type"), value):
            raise ToolError(f"{spec.name}: {name!r} must be of type {properties[name]['type']}")


def _fits(kind: str | None, value: object) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case _:
            return True


def parameters(required: Mapping[str, str], **optional: tuple[str, str]) -> dict[str, Any]:
    """A JSON schema: required string arguments by description, optional ones by type and words."""
    properties: dict[str, Any] = {
        name: {"type": "string", "description": words} for name, words in required.items()
    }
    for name, (kind, words) in optional.items():
        properties[name] = {"type": kind, "description": words}
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
