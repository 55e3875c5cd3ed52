# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The figures of the bench have each row of its table, with both drivers' values, and no text that is
# cut off. The committed figures and Documentation/performance.rst agree with the committed table.
# runs: host
# timeout: 60

work=$1
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
results=$top/tests/bench/results

# draw TABLE: draws into $work/drawn, and keeps what the program says.
draw()
{
	rm -rf "$work/drawn"
	mkdir "$work/drawn"
	"$top/tests/bench/plots.sh" "$1" "$work/drawn" "$work/drawn" >"$work/said" 2>&1 || {
		cat "$work/said"
		return 1
	}
}

# texts SVG...: prints the texts of figures, which precede their glyphs as comments.
texts()
{
	sed -n 's/^ *<!-- \(.*\) -->$/\1/p' "$@" | grep -v SPDX
}

# occurs COUNT TEXT: the drawn figures have that many texts that are exactly this.
occurs()
{
	local count

	count=$(texts "$work"/drawn/*.svg | grep -cxF -- "$2") || [ $? -eq 1 ]
	[ "$count" -eq "$1" ] || {
		echo "'$2' occurs $count times, wanted $1"
		return 1
	}
}

# margins PNG...: fails if a figure's outermost pixels are not all white.
margins()
{
	/usr/bin/python3 - "$@" <<'PYEND'
import sys
from matplotlib.image import imread

for name in sys.argv[1:]:
    image = imread(name)[..., :3]
    height, width, _ = image.shape
    print(f"{name}: {width} x {height}")
    edges = (image[:10], image[-10:], image[:, :10], image[:, -10:])
    if not all((edge == 1).all() for edge in edges):
        sys.exit("something reaches the edge")
PYEND
}

# refused TEXT: the table $work/table is refused for this reason.
refused()
{
	if draw "$work/table"; then
		echo "not refused: $1"
		exit 1
	fi
	grep -qF "$1" "$work/said"
}

names()
{
	grep -v '^#' "$results" | cut -f 1
}

# sample: prints a table in which each value occurs once. The in-tree driver lacks the first row of
# those with a bar of their own, and is better in the second one.
sample()
{
	echo '# run: a sample'
	names | awk -v OFS='\t' '
		{ ours = 500 + NR; intree = 70000 + NR }
		NR == 1 { print $1, ours, "-", "-"; next }
		NR == 2 { print $1, ours, intree, "1.234"; next }
		{ print $1, ours, intree, sprintf("%.3f", ours / intree) }'
}

# What is committed
draw "$results"
(cd "$work/drawn" && ls ./*.svg) >"$work/files"
(cd "$top/Documentation" && ls ./performance-*.svg) | diff - "$work/files"
while read -r file; do
	diff <(texts "$top/Documentation/$file") <(texts "$work/drawn/$file")
	grep -qF "figure:: ${file#./}" "$top/Documentation/performance.rst"
done <"$work/files"
margins "$work"/drawn/*.png
grep -v '^#' "$results" | while IFS=$'\t' read -r name ours intree _; do
	grep -qE " $ours +${intree/#-/\\\\-}( |\$)" "$top/Documentation/performance.rst" || {
		echo "performance.rst does not state $name: $ours, $intree"
		exit 1
	}
done

# A run of the bench has the same rows
diff <(sed -n '/^lines()/,/^}/s/^\t\([a-z][^\t]*\)\t.*/\1/p' "$top/tests/bench/bench.sh" | sort) \
	<(names | sort)

# Each row of a table, once
sample >"$work/sample"
draw "$work/sample"
for n in $(seq "$(names | wc -l)"); do
	occurs 1 "$((500 + n))"
	[ "$n" -eq 1 ] || occurs 1 "70,$(printf %03d "$n")"
done
occurs 1 'only with this driver'
occurs 1 1.23
occurs "$(wc -l <"$work/files")" 'From a sample'
occurs "$(wc -l <"$work/files")" 'in-tree driver = 1.0'
margins "$work"/drawn/*.png

# What is wrong with a table, or does not fit, is noticed
sed 2d "$work/sample" >"$work/table"
refused "$(names | head -n 1): only in the figures"
{ cat "$work/sample" && printf 'other\t1\t2\t0.5\n'; } >"$work/table"
refused 'other: only in the table'
{ cat "$work/sample" && sed -n 2p "$work/sample"; } >"$work/table"
refused "$(names | head -n 1) is there twice"
sed '2s/\t501\t/\t-\t/' "$work/sample" >"$work/table"
refused "$(names | head -n 1): was not measured"
sed "1s/\$/ $(printf 'very %.0s' {1..40})long/" "$work/sample" >"$work/table"
refused 'does not fit'
sed "2s/501/$(printf '7%.0s' {1..60})/" "$work/sample" >"$work/table"
refused 'no room for bars'

# The edges are looked at: this text is cut off
/usr/bin/python3 -c "
import matplotlib
matplotlib.use('Agg')
from matplotlib import pyplot
pyplot.figure(figsize=(1, 1)).text(0.5, 0.5, 'much too long')
pyplot.savefig('$work/cut.png')"
if margins "$work/cut.png" >"$work/said" 2>&1; then
	echo "a text that is cut off is not noticed"
	exit 1
fi
grep -q 'reaches the edge' "$work/said"
