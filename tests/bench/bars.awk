# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Compares the ratios of bench.sh's table with the file "bars".
#
# Usage: awk -v "names=NAME..." -f bars.awk BARS TABLE
#
# Prints the names whose ratio is more than 3 % worse than its bar, or that have no ratio or
# no bar; the exit status is 1 if there are any.

FNR == NR {
	if ($1 !~ /^#/)
		bar[$1] = $2
	next
}

{ ratio[$1] = $4 }

END {
	count = split(names, name, " ")
	for (k = 1; k <= count; k++) {
		n = name[k]
		if (!(n in bar))
			print n " has no bar"
		else if (ratio[n] !~ /^[0-9.]+$/)
			print n " has no ratio"
		else if (ratio[n] > bar[n] * 1.03)
			print n " is " ratio[n] " of the in-tree driver's, its bar is " bar[n]
		else
			good++
	}
	exit good != count || !count
}
