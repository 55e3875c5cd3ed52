#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares a generic netlink family's YAML specification with its uapi header.

Usage: netlink_spec.py SPECIFICATION FOLDER-OF-HEADERS

The rules for names and numbers in C are those of the kernel's
Documentation/netlink/genetlink-c.yaml. Each of them must be both in the header and in the
specification. Differences are printed, and the exit status is then 1.
"""
import os
import re
import sys

import yaml


def c_name(name):
    """Returns a name of the specification in the form for C."""
    return name.replace("-", "_").upper()


class Header:
    """The enums and the #defines of a header."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.enums = {
            match[1]: self.enum_values(match[2])
            for match in re.finditer(r"\benum\s+(\w+)\s*\{(.*?)\}", text, re.S)
        }
        self.defines = dict(re.findall(r"^#define\s+(\w+)[ \t]+(\S+)\s*$", text, re.M))

    @staticmethod
    def enum_values(body):
        """Returns the enumerators in their order, with their numbers."""
        values, number = {}, 0
        for entry in filter(None, map(str.strip, body.split(","))):
            name, _, initializer = map(str.strip, entry.partition("="))
            if initializer:
                base = re.fullmatch(r"(\w+) - 1", initializer)
                number = values[base[1]] - 1 if base else int(initializer, 0)
            values[name] = number
            number += 1
        return values


def numbered(items, prefix, first):
    """Returns the C names of a list's items, with their numbers."""
    names, number = {}, first
    for item in items:
        item = item if isinstance(item, dict) else {"name": item}
        number = item.get("value", number)
        names[c_name(prefix + item["name"])] = number
        number += 1
    return names


def with_limits(names, prefix):
    """Adds the enumerators for the maximum."""
    most = max(names.values())
    prefix = c_name(prefix)
    return {**names, f"__{prefix}MAX": most + 1, f"{prefix}MAX": most}


def enums_of_definitions(spec):
    """The enums for values of attributes."""
    for definition in spec.get("definitions", []):
        prefix = definition["name-prefix"]
        names = numbered(definition["entries"], prefix, definition.get("value-start", 0))
        if definition.get("render-max"):
            names = with_limits(names, prefix)
        yield definition["enum-name"], names


def enums_of_messages(spec):
    """The enums of attributes and commands, in which number 0 is unused."""
    for part in [*spec["attribute-sets"], spec["operations"]]:
        prefix = part["name-prefix"]
        names = numbered(part.get("attributes") or part["list"], prefix, 1)
        names[c_name(prefix + "unspec")] = 0
        yield part["enum-name"], with_limits(names, prefix)


def defines(spec):
    """The names of the family and its groups. The specification does not have its version."""
    wanted = {c_name(spec["c-family-name"]): f'"{spec["name"]}"'}
    for group in spec["mcast-groups"]["list"]:
        wanted[c_name(group["c-define-name"])] = f'"{group["name"]}"'
    return wanted


def differences(what, wanted, found):
    """Yields messages about names that differ, or that only one of the two has."""
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            yield (f"{what}{name}: {wanted.get(name, 'not')} in the specification, "
                   f"{found.get(name, 'not')} in the header")


def undefined(spec):
    """Yields names that are referred to but not defined."""
    enums = {definition["name"] for definition in spec.get("definitions", [])}
    sets = {part["name"]: {attr["name"] for attr in part["attributes"]}
            for part in spec["attribute-sets"]}
    groups = {group["name"] for group in spec["mcast-groups"]["list"]}
    operations = {operation["name"] for operation in spec["operations"]["list"]}
    for part in spec["attribute-sets"]:
        for attr in part["attributes"]:
            yield from {attr.get("enum")} - enums - {None}
            yield from {attr.get("nested-attributes")} - sets.keys() - {None}
    for operation in spec["operations"]["list"]:
        yield from {operation.get("mcgrp")} - groups - {None}
        yield from {operation.get("notify")} - operations - {None}
        messages = [*operation.get("do", {}).values(), *operation.get("dump", {}).values()]
        if "event" in operation:
            messages.append(operation["event"])
        for message in messages:
            yield from set(message["attributes"]) - sets[operation["attribute-set"]]


def compare(spec, header):
    """Yields all messages."""
    wanted = dict([*enums_of_definitions(spec), *enums_of_messages(spec)])
    for name in sorted(wanted.keys() | header.enums.keys()):
        yield from differences(f"enum {name}: ", wanted.get(name, {}),
                               header.enums.get(name, {}))
    version = c_name(spec["c-version-name"])
    found = {name: value for name, value in header.defines.items() if name != version}
    yield from differences("", defines(spec), found)
    if version not in header.defines:
        yield f"{version}: not in the header"
    for name in undefined(spec):
        yield f"{name}: referred to, but not defined in the specification"


def main():
    """Returns the exit status."""
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = yaml.safe_load(file)
    with open(os.path.join(sys.argv[2], spec["uapi-header"]), encoding="utf-8") as file:
        header = Header(file.read())
    lines = list(compare(spec, header))
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
