#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which object files call which, as `nm` has it, floor by floor.

Usage: call_graph.py [--circles] OBJECT...

A file calls another one if it needs a symbol that the other one defines. What a file is given
at run time, as a function to call back, is no call of that kind. Each file stands a floor
above the highest of those that it calls. Files that call each other in a circle have no floor:
they are printed with the symbols that the circle is made of, and the exit status is then 1.
With --circles nothing else is printed.
"""
import os
import subprocess
import sys


def symbols(path):
    """The symbols that an object file defines for others, and those that it needs."""
    defined, needed = set(), set()
    listing = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        *_, kind, name = line.split()
        if kind == "U":
            needed.add(name)
        elif kind in "TDBRVW":
            defined.add(name)
    return defined, needed


def read_graph(paths):
    """{file: {file that it calls: symbols}}"""
    of_file = {os.path.basename(path)[:-2]: symbols(path) for path in paths}
    home = {name: file for file, (defined, _) in of_file.items() for name in defined}
    graph = {file: {} for file in of_file}
    for file, (_, needed) in of_file.items():
        for name in sorted(needed):
            if home.get(name, file) != file:
                graph[file].setdefault(home[name], []).append(name)
    return graph


def reached_from(graph, file):
    """All files that one calls, directly or not."""
    found, left = set(), list(graph[file])
    while left:
        called = left.pop()
        if called not in found:
            found.add(called)
            left.extend(graph[called])
    return found


def floors_of(graph, circular):
    """{file: floor} of those that are in no circle and call none that is."""
    floors = {}
    ready = True
    while ready:
        ready = [
            file
            for file in graph
            if file not in floors and file not in circular and all(c in floors for c in graph[file])
        ]
        for file in ready:
            floors[file] = 1 + max((floors[called] for called in graph[file]), default=-1)
    return floors


def print_floors(graph, floors):
    """From the highest one down."""
    for floor in range(max(floors.values(), default=-1), -1, -1):
        print(f"floor {floor}:", *sorted(file for file in floors if floors[file] == floor))


def main(paths, quiet):
    """Prints the floors, unless it is to be quiet, and the circles; whether there are none."""
    graph = read_graph(paths)
    reached = {file: reached_from(graph, file) for file in graph}
    circular = {file for file in graph if file in reached[file]}
    if not quiet:
        print_floors(graph, floors_of(graph, circular))
    for file in sorted(circular):
        for called, names in sorted(graph[file].items()):
            if file in reached[called]:
                print(f"circle: {file} -> {called}:", *names)
    return not circular


if __name__ == "__main__":
    objects = [argument for argument in sys.argv[1:] if argument != "--circles"]
    if not objects:
        sys.exit(__doc__)
    sys.exit(0 if main(objects, "--circles" in sys.argv) else 1)
