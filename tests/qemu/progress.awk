# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Makes the line of progress.sh out of its events.
#
# Usage: awk -v times=FILE -v now=SECONDS -v width=COLUMNS -f progress.awk EVENTS
#        awk -v times=FILE -v keep=1 -f progress.awk EVENTS
#
# FILE says how long things took before: lines of a name, a tab, and seconds. With "keep", prints
# what is to be its new contents instead. The words of an event are separated by tabs; the first one
# is its time in seconds, the second one its kind:
#   jobs N                     how many cases run at once
#   steps N                    a preparation begins, in so many steps
#   step WHAT                  its next step begins
#   say WHAT                   what the step is doing now
#   plan CASE LIMIT WEIGHT     a case will run; WEIGHT is how many of the jobs it counts as
#   begin CASE, end CASE VERDICT
#   stop

BEGIN {
	FS = OFS = "\t"
	if (!keep)
		first_times()
	while ((getline <times) > 0)
		seconds[$1] = $2
	jobs = 1
}

$2 == "jobs" { jobs = $3 }
$2 == "steps" { steps = $3 }
$2 == "step" { step++; step_name = $3; does($3) }
$2 == "say" && !cases { does($3) }

$2 == "plan" {
	if (!cases++)
		does("")
	order[cases] = $3
	limit[$3] = $4
	weight[$3] = $5
}
$2 == "begin" { began[$3] = $1 }
$2 == "end" { end_case($3, $4) }
$2 == "stop" { does("") }

# first_times: what to expect without a file, as measured on a machine with two CPUs
function first_times() {
	seconds["preparing the guest's root file system"] = 30
	seconds["preparing kernel N (N)"] = 30
	seconds["preparing the compiler and the headers of kernel N"] = 25
	seconds["preparing the debug kernel's headers"] = 25
}

# does WHAT: this begins, and what was done before has ended.
function does(what) {
	if (doing != "" && $1 - since >= 5)
		seconds[key(doing)] = $1 - since
	doing = what
	since = $1
}

# key WHAT: its name in the file of times, without versions and lists of packages
function key(what) {
	sub(/:.*/, "", what)
	gsub(/[0-9][^ ,)]*/, "N", what)
	return what
}

function end_case(name, verdict) {
	ended[name] = 1
	done++
	failed += verdict != "pass"
	took = $1 - began[name]
	if (!(name in seconds)) {
		took_new += took
		limits_new += limit[name]
	}
	if (verdict == "pass")
		taken[name] = took
}

# expected CASE: how long it takes: as long as before, or the share of its limit that other new ones
# took, a quarter while there are none
function expected(name) {
	if (name in seconds)
		return seconds[name]
	return limit[name] * (limits_new ? took_new / limits_new : 0.25)
}

# rest CASE: how long it takes yet
function rest(name,	yet) {
	if (name in ended)
		return 0
	yet = expected(name) - (name in began ? now - began[name] : 0)
	return yet > 0 ? yet : 0
}

# span SECONDS: in words
function span(s) {
	if (s < 90)
		return int(s) " s"
	if (s < 5400)
		return int(s / 60 + 0.5) " min"
	return sprintf("%d h %02d min", int(s / 3600), int(s % 3600 / 60))
}

# step_line: of the preparation
function step_line(	line, gone, all) {
	line = "[" step "/" steps "] " step_name
	if (doing != step_name)
		line = line ": " doing
	gone = now - since
	all = seconds[key(doing)]
	if (!all)
		return line ", " span(gone) " so far"
	if (gone >= all)
		return line ", " span(gone) ", longer than before"
	return line ", " int(100 * gone / all) " %, about " span(all - gone) " left"
}

# case_line: of the cases
function case_line(	line, n, name, sum, yet, longest, running) {
	for (n = 1; n <= cases; n++) {
		name = order[n]
		yet = rest(name)
		sum += yet * weight[name]
		if (yet > longest)
			longest = yet
		if (name in began && !(name in ended))
			running = running (running == "" ? "" : ", ") name " " span(now - began[name])
	}
	yet = sum / jobs > longest ? sum / jobs : longest
	line = "[" done + 0 "/" cases "]"
	if (failed)
		line = line " " failed " failed,"
	return line " " (yet < 1 ? "longer than expected" : "about " span(yet) " left") ": " running
}

END {
	if (keep) {
		for (name in taken)
			seconds[name] = taken[name]
		for (name in seconds)
			print name, seconds[name] | "sort"
	} else if (cases || steps) {
		print substr(cases ? case_line() : step_line(), 1, width - 1)
	}
}
