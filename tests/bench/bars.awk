# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Compares bench.sh's table with the file "bars".
#
# Usage: awk -v "names=NAME..." -f bars.awk BARS TABLE
#
# Prints the names of which a ratio is more than 3 % worse than its bar, or that have no ratio or
# no bar; the exit status is 1 if there are any. With "said=1", also prints the ratios between two
# figures that are in different lines of the table.

FNR == NR {
	if ($1 !~ /^#/) {
		count_of[$1]++
		bar[$1, count_of[$1]] = $2
		of[$1, count_of[$1]] = $3
	}
	next
}

{
	value[$1] = $2
	value["intree:" $1] = $3
	ratio[$1] = $4
}

# ratio_of NAME OTHER: the ratio of this driver's figure to another one; without OTHER, to that of
# the in-tree driver
function ratio_of(name, other) {
	if (other == "")
		return ratio[name]
	if (value[name] !~ /^[0-9.]+$/ || value[other] + 0 == 0)
		return "-"
	return sprintf("%.3f", value[name] / value[other])
}

# holds NAME N: whether the figure is not worse than its Nth bar
function holds(name, n,	found, what) {
	found = ratio_of(name, of[name, n])
	what = of[name, n] == "" ? "the in-tree driver's" : of[name, n]
	if (found !~ /^[0-9.]+$/) {
		print name " has no ratio"
		return 0
	}
	if (found > bar[name, n] * 1.03) {
		print name " is " found " of " what ", its bar is " bar[name, n]
		return 0
	}
	if (said && of[name, n] != "")
		print name " is " found " of " what
	return 1
}

END {
	count = split(names, asked, " ")
	for (k = 1; k <= count; k++) {
		bars = count_of[asked[k]]
		if (!bars)
			print asked[k] " has no bar"
		bad += !bars
		for (n = 1; n <= bars; n++)
			bad += !holds(asked[k], n)
	}
	exit bad || !count
}
