#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Prints what the documents lack that the sources have, and what they have that the sources lack:
module parameters, counters, sysfs files, reasons, tracepoints and log messages. Also prints ratios
of the README that differ from the recorded figures, references to
manual pages and links of Markdown files that lead nowhere, and rows of tables that are torn apart.
Usage: documented.py TREE. The exit status is 1 if anything was printed.
"""
import pathlib
import re
import sys

TREE = pathlib.Path(sys.argv[1])
MODULES = {
    "ib_ipoib": "*.c",
    "ib_ats": "ats/*.c",
    "eth_ipoib": "eth_ipoib/*.c",
    "ibfab": "tests/fabric/*.c",
}
# Where else parameters are listed: a document, its section, and how they look in it
LISTS = {
    "ib_ipoib": [("Documentation/reference.rst", "Module parameters", r"^``(\w+)``")],
    "ib_ats": [("Documentation/ats.rst", "Module parameters", r"^``(\w+)``")],
    "ibfab": [("Documentation/ibfab.rst", "Parameters", r"``(\w+)=")],
}
# The rows of the README's table, and the names of the figures that they summarize
README_RATIOS = {
    "instructions for TCP bulk, datagram mode": r"tcp8?\.(2044|4092)(\.csum|\.lso)?",
    "instructions for TCP bulk, connected mode": r"tcp8?\.connected",
    "instructions for UDP of 64 octets": "udp64",
    "time of the first ping to a new peer": r"first\.learned",
    "time to set an interface up, until carrier": r"up\.one",
    "memory of a P_Key child": r"memory\.child",
}
findings = []


def text(name):
    if not (TREE / name).exists():
        findings.append(f"{name}: no such file")
        return ""
    return (TREE / name).read_text()


def sources(pattern):
    files = sorted(TREE.glob(pattern))
    if not files:
        findings.append(f"{pattern}: no such files")
    return "".join(file.read_text() for file in files)


def section(name, title):
    """Returns a section of an RST document, without its subsections' titles being special."""
    found = re.search(rf"^{title}\n=+\n(.*?)(?=^[^\n]+\n={{4,}}\n|\Z)", text(name), re.M | re.S)
    if not found:
        findings.append(f"{name}: no section {title}")
    return found.group(1) if found else ""


def compare(what, wanted, where, described):
    for name in sorted(set(wanted) - set(described)):
        findings.append(f"{where} lacks the {what} {name}")
    for name in sorted(set(described) - set(wanted)):
        findings.append(f"{where} has {name}, which is no {what}")


def parameters():
    for module, pattern in MODULES.items():
        names = re.findall(
            r"^(?:module_param\w*|DEFINE_CAPS_PARAM)\((\w+),", sources(pattern), re.M
        )
        # In the macro's own definition, the name is that of its argument
        names = [name for name in names if not name.startswith("_")]
        page = re.search(
            r"^\.Sh MODULE PARAMETERS$(.*?)^\.Sh ", text(f"man/{module}.4"), re.M | re.S
        )
        described = re.findall(r"^\.It Cm (\w+)", page.group(1) if page else "", re.M)
        compare("parameter", names, f"man/{module}.4", described)
        for document, title, line in LISTS.get(module, []):
            lines = "\n".join(re.findall("^``.*", section(document, title), re.M))
            compare("parameter", names, document, re.findall(line, lines, re.M))


def counters():
    for file, document in (
        ("ipoib_ethtool.c", "reference.rst"),
        ("eth_ipoib/eipoib_stat.c", "eipoib.rst"),
    ):
        names = re.findall(r'^\t\[\w+\]\s*= "(\w+)",', text(file), re.M)
        if not names:
            findings.append(f"{file}: no counters")
        described = re.findall(
            r"^``(\w+)``", section(f"Documentation/{document}", "Counters"), re.M
        )
        compare("counter", names, f"Documentation/{document}", described)


def sysfs_files():
    names = re.findall(r"^static DEVICE_ATTR_\w+\((\w+)\)", text("ipoib_sysfs.c"), re.M)
    if not names:
        findings.append("ipoib_sysfs.c: no files")
    described = re.findall(r"^``(\w+)``", section("Documentation/reference.rst", "sysfs"), re.M)
    compare("sysfs file", names, "Documentation/reference.rst", described)
    lines = re.findall(r"^\.It Pa /sys/class/net/ib0/(.*)", text("man/ib_ipoib.4"), re.M)
    described = [name for line in lines for name in re.split(" , Pa ", line)]
    compare("sysfs file", names, "man/ib_ipoib.4", described)


def reasons():
    """Why there is no carrier. The tool also has reasons for other drivers."""
    names = re.findall(r'^\t(?:\[\w+\] = \{ |\t)"([a-z-]+)"', text("ipoib_reason.c"), re.M)
    if not names:
        findings.append("ipoib_reason.c: no reasons")
    listed = section("Documentation/reference.rst", "Why there is no carrier")
    described = re.findall(r"^``([a-z-]+)``", listed, re.M)
    compare("reason", names, "Documentation/reference.rst", described)
    known = re.findall(r'^\t\t"([a-z-]+)",$', text("tools/ipoib_reason.c"), re.M)
    compare("reason", names, "tools/ipoib_reason.c", set(known) - {"not-joined"})
    page = re.search(r"^\.Ss Reasons$(.*?)^\.El", text("tools/ipoib.8"), re.M | re.S)
    described = re.findall(r"^\.It ([a-z-]+)$", page.group(1) if page else "", re.M)
    compare("reason", names, "tools/ipoib.8", set(described) - {"not-joined"})


def readme_ratios():
    """The ratios in the README's table are those of the recorded figures."""
    lines = [line.split("\t") for line in text("tests/bench/results").splitlines()]
    ratios = {line[0]: line[3] for line in lines if len(line) > 3}
    for row, pattern in README_RATIOS.items():
        values = sorted(ratio for name, ratio in ratios.items() if re.fullmatch(pattern, name))
        cells = rf"^\| {re.escape(row)} \| 1 \| \*\*(.*)\*\* \|$"
        found = re.search(cells, text("README.md"), re.M)
        wanted = " to ".join(dict.fromkeys(values[:1] + values[-1:]))
        if not found or found.group(1) != wanted:
            findings.append(f"README.md: {row}: {found and found.group(1)}, measured {wanted}")


def tracepoints():
    names = re.findall(r"^TRACE_EVENT\((\w+),", text("ipoib_trace.h"), re.M)
    described = re.findall(
        r"^``(\w+)``", section("Documentation/reference.rst", "Tracepoints"), re.M
    )
    compare("tracepoint", names, "Documentation/reference.rst", described)


def messages():
    """The first words of each message, up to a value or a colon, must be in the document."""
    described = "".join(
        re.findall(r"^``.*", section("Documentation/reference.rst", "Kernel log messages"), re.M)
    )
    function = r"\b(?:pr|netdev|dev)_(?:err|warn|notice|info)(?:_ratelimited|_once)?"
    count = 0
    for pattern in ("*.c", "ats/*.c", "eth_ipoib/*.c"):
        for message in re.findall(function + r'\([^"]*"((?:[^"\\]|\\.)*)"', sources(pattern)):
            for piece in re.split(r"%#?\w+|\\n|: ", message.replace("ib_ipoib: ", "")):
                if sum(map(str.isalpha, piece)) >= 8:
                    count += 1
                    if piece.strip(" ,)") not in described:
                        findings.append(f"Documentation/reference.rst lacks the message: {message}")
                    break
    if not count:
        findings.append("no log messages in the sources")


def links():
    """External links are not followed: not every machine that builds this has the internet."""
    for file in sorted(TREE.glob("*.md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", file.read_text()):
            path = link.split("#")[0]
            if "://" not in link and path and not (TREE / path).exists():
                findings.append(f"{file.name}: {link}: no such file")


def torn_rows():
    """A line of a simple table with text in the first column begins a row. If there is no other
    text in it, it was most likely meant as the rest of the cell above.
    """
    for file in sorted((TREE / "Documentation").glob("*.rst")):
        lines = file.read_text().splitlines() + [""]
        columns = None
        for number, line in enumerate(lines[:-1]):
            if re.fullmatch(r" *=+( +=+)+", line):
                ends = columns and not lines[number + 1].strip()
                columns = None if ends else [m.start() for m in re.finditer("=+", line)]
            elif columns:
                first, others = line[columns[0] : columns[1]], line[columns[1] :]
                if first.strip() and not others.strip():
                    findings.append(f"{file.name}:{number + 1}: text in the first column only")


def manual_pages():
    for file in sorted((TREE / "Documentation").glob("*.rst")):
        for name, number in re.findall(r":manpage:`(\w+)\((\d)\)`", file.read_text()):
            if not any((TREE / folder / f"{name}.{number}").exists() for folder in ("man", "tools")):
                findings.append(f"{file.name}: there is no {name}({number})")


parameters()
counters()
sysfs_files()
reasons()
readme_ratios()
tracepoints()
messages()
manual_pages()
links()
torn_rows()
print("\n".join(findings), end="\n" if findings else "")
sys.exit(bool(findings))
