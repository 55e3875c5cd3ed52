#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Draws bench.sh's table as figures of horizontal bars, each as SVG and PNG.

Usage: plots.py TABLE SVG_FOLDER PNG_FOLDER

Writes performance-NAME.svg and performance-NAME.png for each of FIGURES. A line "# run: TEXT" of
the table says where the rows after it come from. Each row must belong to a figure, and each row of
a figure must be in the table. Fails if a text does not fit.
"""
import math
import os
import sys
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "ib-ipoib",
    # Glyphs as paths look the same everywhere; the text itself is in comments beside them
    "svg.fonttype": "path",
})
from matplotlib import pyplot  # noqa: E402

LICENCE = "<!-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause -->\n"
# A background of its own, so that the figures are legible on dark pages, too
PAPER, INK, FAINT, RULE = "#ffffff", "#1f2328", "#57606a", "#d0d7de"
OURS, INTREE, WORSE = "#2f6db3", "#a9b2bc", "#c4601d"
# Inches
WIDTH, MARGIN, GAP, ROW, HEADING, BAR = 9.0, 0.2, 0.14, 0.27, 0.36, 0.17
BOTH = ("this driver", "in-tree")
BETTER = {"lower": "\N{LEFTWARDS ARROW} better", "higher": "better \N{RIGHTWARDS ARROW}"}


class Group(NamedTuple):
    """Rows of a figure that have a heading and a unit in common."""
    heading: str
    unit: str
    rows: dict


class Figure(NamedTuple):
    """What a figure shows. With a base, each row has a bar for each driver, relative to the
    in-tree driver's row of that name; otherwise one bar, relative to the in-tree driver."""
    name: str
    title: str
    better: str
    groups: list
    base: str = ""


STREAMS = ("one stream", "eight streams")


def streams(suffix):
    """Returns the two rows of bulk TCP that have this suffix."""
    return dict(zip((f"tcp.{suffix}", f"tcp8.{suffix}"), STREAMS))


FIGURES = [
    Figure("throughput", "Throughput of two CPUs", "higher", [
        Group("TCP", "Mbit/s", {
            "wall.tcp": "one stream",
            "wall.tcp8": "eight streams",
            "wall.two": "two senders",
            "wall.two.queues": "two senders, a queue each",
        }),
        Group("UDP", "Mbit/s", {"wall.udp": "1400 octets"}),
    ]),
    Figure("cost", "Instructions that traffic takes", "lower", [
        Group("TCP, MTU 2044", "instructions per octet", streams("2044")),
        Group("TCP, MTU 4092", "instructions per octet", streams("4092")),
        Group("TCP, MTU 2044, the HCA computes checksums", "instructions per octet",
              streams("2044.csum")),
        Group("TCP, MTU 2044, the HCA segments", "instructions per octet", streams("2044.lso")),
        Group("TCP, MTU 2044, bounce buffers", "instructions per octet", streams("2044.dma")),
        Group("TCP, connected mode, MTU 65520", "instructions per octet", {
            "tcp.connected": "one stream",
            "tcp8.connected": "eight streams",
            "tcp.unsummed": "omit_checksums=1, one stream",
            "tcp8.unsummed": "omit_checksums=1, eight streams",
        }),
        Group("TCP, connected mode, without the virtual HCAs", "instructions per octet", {
            "tcp.connected.host": "one stream",
            "tcp8.connected.host": "eight streams",
            "tcp.unsummed.host": "omit_checksums=1, one stream",
            "tcp8.unsummed.host": "omit_checksums=1, eight streams",
        }),
        Group("UDP", "instructions per packet", {
            "udp64": "64 octets",
            "udp1400": "1400 octets",
            "udp64.dma": "64 octets, bounce buffers",
            "udp1400.dma": "1400 octets, bounce buffers",
            "forward": "64 octets, forwarded",
        }),
        Group("UDP, connected mode, 60000 octets", "instructions per packet", {
            "udp60000": "with checksums",
            "udp60000.unsummed": "omit_checksums=1",
            "udp60000.host": "without the virtual HCAs",
            "udp60000.unsummed.host": "omit_checksums=1, without these",
        }),
        Group("UDP with GSO, 63000 octets", "instructions per send", {
            "gso": "the stack computes checksums",
            "gso.csum": "the HCA computes checksums",
        }),
    ]),
    Figure("latency", "Latency", "lower", [
        Group("TCP request and response of 1 octet", "instructions per round trip", {
            "rr": "datagram mode",
            "rr.dma": "datagram mode, bounce buffers",
        }),
        Group("Ping", "instructions per round trip", {
            "ping": "datagram mode",
            "ping.dma": "datagram mode, bounce buffers",
            "ping.connected": "connected mode",
            "ping.connected.host": "connected mode, without the HCAs",
        }),
        Group("First ping to a new peer", "microseconds", {
            "first.learned": "with learned paths",
            "first.asked": "without learned paths",
        }),
        Group("Interface set up", "milliseconds", {"up.one": "until it has a carrier"}),
    ]),
    Figure("scale", "Many groups, children and peers", "lower", [
        Group("Multicast groups", "milliseconds", {"groups": "500 groups joined"}),
        Group("P_Key children", "milliseconds", {"up.children": "64 created and set up"}),
        Group("SA queries for a new peer", "queries", {
            "queries.learned": "with learned paths",
            "queries.asked": "without learned paths",
        }),
    ]),
    Figure("memory", "Memory", "lower", [
        Group("Datagram mode", "octets", {
            "memory.interface": "an interface that is up",
            "memory.child": "a child that is up",
            "memory.neighbour": "a neighbour, with the kernel's entry",
        }),
        Group("Connected mode", "octets", {
            "memory.connected": "8 children, a connection each way",
        }),
    ]),
    Figure("eth", "Ethernet over IPoIB, and VXLAN instead", "lower", [
        Group("TCP, one stream, MTU 2044", "instructions per octet", {
            "tcp.plain": "plain IPoIB",
            "tcp.bridge": "eth_ipoib, between bridges",
            "tcp.veth": "eth_ipoib, between namespaces",
            "tcp.vxlan": "VXLAN, between bridges",
            "tcp.vxlan.veth": "VXLAN, between namespaces",
        }),
    ], base="tcp.plain"),
]


class Row(NamedTuple):
    """A row of the table: the figures of both drivers, and their ratio, as they are written there,
    and their origin."""
    ours: str
    intree: str
    ratio: str
    run: str


def read_table(path):
    """Returns {name: Row}."""
    rows, run = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("# run: "):
                run = line[len("# run: "):]
            elif not line.startswith("#"):
                name, ours, intree, ratio, *_ = line.split("\t")
                if name in rows:
                    sys.exit(f"{path}: {name} is there twice")
                rows[name] = Row(ours, intree, ratio, run)
    return rows


def check_rows(rows):
    """Fails unless the figures have exactly these rows, each once, and figures of this driver."""
    drawn = [name for figure in FIGURES for group in figure.groups for name in group.rows]
    for name in sorted(set(drawn) ^ set(rows)):
        sys.exit(f"{name}: only in the {'table' if name in rows else 'figures'}")
    for name in drawn:
        if drawn.count(name) > 1:
            sys.exit(f"{name}: drawn twice")
        if rows[name].ours == "-":
            sys.exit(f"{name}: was not measured")


def written(value):
    """Returns a figure as it is printed: three digits at least, if it was not counted in whole
    numbers, and separators between thousands."""
    if value == "-":
        return "\N{EN DASH}"
    return f"{float(value):,.{2 if '.' in value and float(value) < 100 else 0}f}"


class Canvas:
    """A figure in inches from its upper left corner, which remembers its texts."""

    def __init__(self, height):
        self.height = height
        self.figure = pyplot.figure(figsize=(WIDTH, height), facecolor=PAPER)
        self.axes = self.figure.add_axes([0, 0, 1, 1])
        self.axes.set(xlim=(0, WIDTH), ylim=(height, 0))
        self.axes.axis("off")
        self.texts = []

    def text(self, x, y, text, size=9.5, **options):
        """Adds a text, whose vertical middle is y."""
        options = {"color": INK, "va": "center_baseline", "clip_on": False, **options}
        self.texts.append(self.axes.text(x, y, text, fontsize=size, **options))
        return self.texts[-1]

    def box(self, text):
        """Returns the place that a text takes, in inches from the lower left corner."""
        box = text.get_window_extent(self.figure.canvas.get_renderer())
        return box.transformed(self.figure.dpi_scale_trans.inverted())

    def width_of(self, text, size=9.5, **options):
        """Returns the width that such a text has."""
        probe = self.axes.text(0, 0, text, fontsize=size, **options)
        width = self.box(probe).width
        probe.remove()
        return width

    def bar(self, x, y, width, colour):
        """Adds a bar, whose vertical middle is y."""
        self.axes.barh(y, width, BAR, left=x, color=colour, linewidth=0)

    def rule(self, x, top, bottom, **options):
        """Adds a vertical line."""
        self.axes.plot([x, x], [top, bottom], solid_capstyle="butt", **options)

    def check(self):
        """Fails if a text reaches into the margin, or covers another one."""
        boxes = [(text.get_text(), self.box(text)) for text in self.texts]
        edge = MARGIN * 0.9
        for n, (text, box) in enumerate(boxes):
            if box.x0 < edge or box.x1 > WIDTH - edge or \
                    box.y0 < edge / 2 or box.y1 > self.height - edge / 2:
                sys.exit(f"'{text}' does not fit")
            for other, place in boxes[:n]:
                if box.overlaps(place):
                    sys.exit(f"'{text}' covers '{other}'")


class Plot:
    """A figure while it is drawn."""

    def __init__(self, figure, rows):
        self.shown, self.rows = figure, rows
        self.names = [name for group in figure.groups for name in group.rows]
        self.runs = list(dict.fromkeys(rows[name].run for name in self.names))
        self.step = 2 * BAR + 0.14 if figure.base else ROW
        self.top = 1.13
        self.bottom = self.top + HEADING * len(figure.groups) + self.step * len(self.names)
        # In eighths of an inch, which are whole pixels
        self.canvas = Canvas(math.ceil(8 * (self.bottom + 0.5 + 0.19 * len(self.runs))) / 8)
        self.scale_bars()

    def ratios(self, name):
        """Returns what a row's bars show, and their colours."""
        row = self.rows[name]
        if row.ratio == "-":
            return []
        ratio = float(row.ratio)
        if self.shown.base:
            base = float(self.rows[self.shown.base].intree)
            # The ratio of the table was not computed from rounded figures
            ours = ratio if name == self.shown.base else float(row.ours) / base
            return [(ours, OURS), (float(row.intree) / base, INTREE)]
        worse = ratio > 1.005 if self.shown.better == "lower" else ratio < 0.995
        return [(ratio, WORSE if worse else OURS)]

    def scale_bars(self):
        """Gives the bars the room that the labels and the figures beside them leave."""
        canvas = self.canvas
        labels = [label for group in self.shown.groups for label in group.rows.values()]
        columns = [[written(self.rows[name][driver]) for name in self.names] + [BOTH[driver]]
                   for driver in (0, 1)]
        widths = [max(map(canvas.width_of, column)) for column in columns]
        self.right = [WIDTH - MARGIN - widths[1] - 2.5 * GAP, WIDTH - MARGIN]
        self.left = 2 * MARGIN + max(map(canvas.width_of, labels)) + GAP
        room = self.right[0] - widths[0] - self.left - canvas.width_of("0.00 ") - 4 * GAP
        if room < 2:
            sys.exit(f"{self.shown.name}: no room for bars")
        most = max([ratio for name in self.names for ratio, _ in self.ratios(name)] + [1])
        self.inch = room / most
        steps = 2 if most < 2 else 1
        self.ticks = [(self.left + n / steps * self.inch, f"{n / steps:.1f}")
                      for n in range(int(most * steps) + 1)]

    def head(self):
        """Draws what is above the bars."""
        canvas, y = self.canvas, self.top - 0.13
        base = f" with plain IPoIB ({self.rows[self.shown.base].intree})" if self.shown.base else ""
        canvas.text(MARGIN, 0.3, self.shown.title, 14, weight="bold")
        canvas.text(MARGIN, 0.6, f"Relative to the in-tree driver{base}. "
                    f"{self.shown.better.capitalize()} is better.", 10.5, color=FAINT)
        mark = canvas.text(self.left + self.inch, y, "in-tree driver = 1.0", 9, ha="center",
                           weight="bold")
        canvas.text(canvas.box(mark).x0 - GAP, y, BETTER[self.shown.better], 9, ha="right",
                    color=FAINT)
        for right, name, colour in zip(self.right, BOTH, (OURS, INTREE)):
            box = canvas.box(canvas.text(right, y, name, 9, ha="right", color=FAINT))
            if self.shown.base:
                canvas.axes.barh(y, 0.1, 0.1, left=box.x0 - 0.16, color=colour, linewidth=0)

    def grid(self, top, bottom):
        """Draws the lines behind the bars of a group."""
        for x, label in self.ticks:
            if label != "1.0":
                self.canvas.rule(x, top, bottom, color=RULE, linewidth=0.8, zorder=0)

    def foot(self):
        """Draws the line of the in-tree driver, and what is below the bars."""
        self.canvas.rule(self.left + self.inch, self.top, self.bottom + 0.04, color=INK,
                         linewidth=1.2, zorder=3)
        for x, label in self.ticks:
            self.canvas.text(x, self.bottom + 0.13, label, 8.5, ha="center", color=FAINT)
        for n, run in enumerate(self.runs):
            self.canvas.text(MARGIN, self.bottom + 0.42 + 0.19 * n, f"From {run}", 8, color=FAINT)

    def value(self, y, ratio):
        """Writes a ratio beside the end of its bar."""
        end = self.left + ratio * self.inch
        mark = self.left + self.inch
        width = self.canvas.width_of("0.00", weight="bold")
        # Not across the line of the in-tree driver
        if end - 0.02 <= mark <= end + width + 2 * 0.06:
            end = mark
        self.canvas.text(end + 0.06, y, f"{ratio:.2f}", weight="bold", zorder=4,
                         bbox={"facecolor": PAPER, "linewidth": 0, "pad": 1})

    def row(self, y, name, label):
        """Draws a row, whose vertical middle is y."""
        self.canvas.text(self.left - GAP, y, label, ha="right")
        ratios = self.ratios(name)
        for n, (ratio, colour) in enumerate(ratios):
            middle = y + (n - (len(ratios) - 1) / 2) * (BAR + 0.03)
            self.canvas.bar(self.left, middle, ratio * self.inch, colour)
            self.value(middle, ratio)
        if not ratios:
            self.canvas.text(self.left + 0.06, y, "only with this driver", style="italic",
                             color=FAINT)
        for right, value in zip(self.right, self.rows[name]):
            self.canvas.text(right, y, written(value), ha="right")

    def draw(self):
        """Draws all, and returns the canvas."""
        y = self.top
        self.head()
        for group in self.shown.groups:
            heading = self.canvas.text(MARGIN, y + HEADING / 2 + 0.03, group.heading, 10,
                                       weight="bold", zorder=4)
            end = self.canvas.box(heading).x1
            self.canvas.text(end + 0.1, y + HEADING / 2 + 0.03, group.unit, 9, color=FAINT,
                             zorder=4)
            y += HEADING
            self.grid(y, y + self.step * len(group.rows))
            for name, label in group.rows.items():
                self.row(y + self.step / 2, name, label)
                y += self.step
        self.foot()
        self.canvas.check()
        return self.canvas


def save(canvas, name, svg_folder, png_folder):
    """Writes a figure in both formats. The SVG has its licence in the second line."""
    svg = os.path.join(svg_folder, f"performance-{name}.svg")
    canvas.figure.savefig(svg, metadata={"Date": None})
    canvas.figure.savefig(os.path.join(png_folder, f"performance-{name}.png"), dpi=200)
    pyplot.close(canvas.figure)
    with open(svg, encoding="utf-8") as file:
        first, *rest = file.read().splitlines(keepends=True)
    with open(svg, "w", encoding="utf-8") as file:
        file.writelines([first, LICENCE, *(line.rstrip() + "\n" for line in rest)])


def main():
    """Draws all figures."""
    table, svg_folder, png_folder = sys.argv[1:]
    rows = read_table(table)
    check_rows(rows)
    for figure in FIGURES:
        save(Plot(figure, rows).draw(), figure.name, svg_folder, png_folder)


main()
