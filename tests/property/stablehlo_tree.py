"""StableHLO programs in a form that can be changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from webnn.hlo import ir as hlo
from webnn.hlo.types import Type

__all__ = ["Body", "Operation", "Program", "take_apart"]


@dataclass
class Operation:
    name: str
    operands: list[int]
    results: list[int]
    attributes: dict[str, Any]
    regions: list[Body]
    label: str = ""

    def copy(self) -> Operation:
        """Return a copy. The values of attributes are not changed, so they are shared."""
        regions = [each.copy() for each in self.regions]
        return Operation(self.name, [*self.operands], [*self.results], dict(self.attributes), regions, self.label)


@dataclass
class Body:
    arguments: list[int]
    operations: list[Operation]

    def copy(self) -> Body:
        """Return a copy."""
        return Body([*self.arguments], [each.copy() for each in self.operations])


@dataclass
class Program:
    """A program that can be changed: values are numbers, which have types.

    Attributes:
        types: The type of each value.
        bodies: The functions, by their names; of the same name there may be several. The first one is imported.
    """

    types: dict[int, Type] = field(default_factory=dict)
    bodies: list[tuple[str, Body]] = field(default_factory=list)

    def copy(self) -> Program:
        """Return a copy."""
        return Program(dict(self.types), [(name, region.copy()) for name, region in self.bodies])

    def make(self, type: Type) -> int:
        """Return a new value."""
        number = len(self.types)
        self.types[number] = type
        return number

    def regions(self) -> Iterator[Body]:
        """Yield all regions."""
        waiting = [region for _, region in self.bodies]
        while waiting:
            region = waiting.pop()
            yield region
            for operation in region.operations:
                waiting.extend(operation.regions)

    def operations(self) -> list[Operation]:
        """Return all operations."""
        return [operation for region in self.regions() for operation in region.operations]

    def build(self) -> hlo.Module:
        """Return the program.

        Raises:
            ValueError: It is none.
        """
        values = {number: hlo.Value(type) for number, type in self.types.items()}

        def build(region: Body) -> hlo.Region:
            return hlo.Region(
                arguments=tuple([values[number] for number in region.arguments]),
                operations=tuple(
                    [
                        hlo.Operation(
                            name=each.name,
                            operands=tuple([values[number] for number in each.operands]),
                            results=tuple([values[number] for number in each.results]),
                            attributes=each.attributes,
                            regions=tuple([build(inner) for inner in each.regions]),
                            location=hlo.Location(name=each.label),
                        )
                        for each in region.operations
                    ]
                ),
            )

        return hlo.Module(functions=tuple([hlo.Function(name=name, body=build(region)) for name, region in self.bodies]))


def take_apart(module: hlo.Module) -> Program:
    """Return a program that can be changed."""
    program = Program()
    numbers: dict[hlo.Value, int] = {}

    def define(values: Sequence[hlo.Value]) -> list[int]:
        found = [program.make(value.type) for value in values]
        numbers.update(zip(values, found, strict=True))
        return found

    def convert(region: hlo.Region) -> Body:
        arguments = define(region.arguments)
        operations = []
        for each in region.operations:
            operands = [numbers[value] for value in each.operands]
            regions = [convert(inner) for inner in each.regions]
            operations.append(Operation(each.name, operands, define(each.results), dict(each.attributes), regions, each.location.name))
        return Body(arguments, operations)

    program.bodies = [(each.name, convert(each.body)) for each in module.functions if each.body is not None]
    program.bodies.sort(key=lambda pair: pair[0] != "main")
    return program
