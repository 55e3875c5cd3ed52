# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Assigns the instructions in QEMU's log, one per line, to functions: prints the number of
# instructions per COUNT, first of the fabric, the driver and the rest, then of each function.
# Functions that copy, clear or sum memory are listed by their callers.
#
# Usage: awk -v transcript=FILE -v count=COUNT -f functions.awk LOG
#
# FILE is the guest's transcript with its symbols. It must exist when the log begins.

function read_symbols(	command, line, word)
{
	command = "tr -d '\\r' <'" transcript "' | sed -n 's/^symbol //p' | sort"
	while ((command | getline line) > 0) {
		split(line, word, " ")
		address[++symbols] = word[1] ""
		symbol[symbols] = word[3] == "" ? word[2] : word[2] " " word[3]
	}
	close(command)
	if (!symbols)
		give_up("the transcript has no symbols")
}

# awk runs the END rule even after exit.
function give_up(why)
{
	print why >"/dev/stderr"
	given_up = 1
	exit 1
}

# All addresses have the same length, so they can be compared as text.
function function_at(pc,	low, high, middle)
{
	if (pc < "8")
		return "user space"
	low = 1
	high = symbols
	while (low < high) {
		middle = int((low + high + 1) / 2)
		if (address[middle] <= pc)
			low = middle
		else
			high = middle - 1
	}
	return symbol[low]
}

function group_of(name)
{
	if (name == "user space")
		return name
	if (name ~ /\[ibfab\]$/)
		return name ~ / for / ? "the fabric's copies" : "the fabric"
	if (name ~ / for /)
		return "copies, sums, clearing"
	if (name ~ /\[ib_ipoib\]$/)
		return "the driver"
	return "the kernel"
}

BEGIN {
	FS = "/"
	memory = "^_*(memcpy|memset|memmove|clear_page|copy_page)(_orig|_erms|_rep)?$|" \
		"^_*copy_user|^_*csum_partial|^do_csum$|^rep_(movs|stos)"
}

/^Trace/ {
	if (!symbols)
		read_symbols()
	pc = $2 ""
	if (!(pc in at)) {
		at[pc] = function_at(pc)
		if (at[pc] ~ memory)
			is_memory[pc]
	}
	if (pc in is_memory) {
		last = at[pc] " for " owner
	} else {
		last = owner = at[pc]
	}
	spent[last]++
}

# It was logged, but an interrupt came before it was executed.
/^Stopped/ { spent[last]-- }

END {
	if (given_up)
		exit 1
	for (name in spent) {
		total += spent[name]
		group[group_of(name)] += spent[name]
	}
	if (!total)
		give_up("nothing was logged")
	printf "%12.4f  in all\n", total / count
	for (name in group)
		printf "%12.4f  %s\n", group[name] / count, name | "sort -rn"
	close("sort -rn")
	print ""
	for (name in spent)
		printf "%12.4f  %s\n", spent[name] / count, name | "sort -rn | head -n 200"
}
