#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Prints which object files call which, according to `nm`, in layers.

Usage: call_graph.py [--circles] OBJECT...

A file calls another one if it needs a symbol that the other one defines. Functions that are
passed at run time, such as callbacks, do not count. Each file is one layer above the highest
of those that it calls. Files with circular calls have no layer: they are printed with the
symbols that make up the circle, and the exit status is then 1. With --circles nothing else
is printed.
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
    """Returns {file: {file that it calls: symbols}}."""
    of_file = {os.path.basename(path)[:-2]: symbols(path) for path in paths}
    home = {name: file for file, (defined, _) in of_file.items() for name in defined}
    graph = {file: {} for file in of_file}
    for file, (_, needed) in of_file.items():
        for name in sorted(needed):
            if home.get(name, file) != file:
                graph[file].setdefault(home[name], []).append(name)
    return graph


def reached_from(graph, file):
    """Returns all files that a file calls, directly or indirectly."""
    found, left = set(), list(graph[file])
    while left:
        called = left.pop()
        if called not in found:
            found.add(called)
            left.extend(graph[called])
    return found


def layers_of(graph, circular):
    """Returns {file: layer} of the files that neither are in a circle nor call one that is."""
    layers = {}
    ready = True
    while ready:
        ready = [
            file
            for file in graph
            if file not in layers and file not in circular and all(c in layers for c in graph[file])
        ]
        for file in ready:
            layers[file] = 1 + max((layers[called] for called in graph[file]), default=-1)
    return layers


def print_layers(graph, layers):
    """Prints the layers, the highest one first."""
    for layer in range(max(layers.values(), default=-1), -1, -1):
        print(f"layer {layer}:", *sorted(file for file in layers if layers[file] == layer))


def main(paths, quiet):
    """Prints the layers, unless quiet, and the circles. Returns True if there are none."""
    graph = read_graph(paths)
    reached = {file: reached_from(graph, file) for file in graph}
    circular = {file for file in graph if file in reached[file]}
    if not quiet:
        print_layers(graph, layers_of(graph, circular))
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
