# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2016,SC2034
# The tools' bash completions offer interfaces and HCAs, each where it fits, and what goes together
# with what is on the line. Names that a shell would execute are never offered, nor executed.
# runs: host
# timeout: 60

work=$1
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# interface NAME TYPE [LOWER]: makes an interface, over LOWER.
interface()
{
	mkdir -p "$work/sys/class/net/$1"
	echo "$2" >"$work/sys/class/net/$1/type"
	[ -z "${3-}" ] || ln -s "../$3" "$work/sys/class/net/$1/lower_$3"
}

# What bash-completion has: what is on the line, the last of which is at the cursor.
_get_comp_words_by_ref()
{
	words=("${line[@]}")
	cword=$((${#line[@]} - 1))
	cur=${line[cword]}
	prev=${line[cword - 1]}
}

__ltrim_colon_completions()
{
	:
}

# offers WANTED WORD...: at the end of the line of these words, the last one of which may be empty.
offers()
{
	local wanted=$1 line=("${@:2}") COMPREPLY=() got

	"_$2"
	got=$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -s -d ' ')
	[ "$got" = "$wanted" ] || {
		echo "${*:2}: offers '$got', wanted '$wanted'"
		exit 1
	}
}

# Completion runs in shells without this option
set +e
mkdir "$work/folder"
cd "$work/folder" || exit
for tool in ipoib ibats eipoib; do
	sed "s,/sys/,$work/sys/,g" "$top/tools/$tool.bash-completion" >"$work/$tool"
	# shellcheck source=/dev/null
	. "$work/$tool" || exit
done
interface ib0 32
interface ib0.8001 32
interface bond0 32
mkdir "$work/sys/class/net/bond0/bonding"
interface eth0 1
interface eth5 1 ib0
for name in '$(>pwn)' '`>pwn`' 'a;>pwn' 'x$((1))' "it's" '*'; do
	interface "$name" 32
	interface "e$name" 1 ib0
	mkdir -p "$work/sys/class/infiniband/$name/ports/1"
done
mkdir -p "$work"/sys/class/infiniband/mlx5_0/ports/{1,2}

offers 'help ib0 ib0.8001' ipoib why ''
offers 'ib0 ib0.8001' ipoib why i
offers '' ipoib why '$'
offers 'help why' ipoib ''
offers 'bond0 help ib0 ib0.8001' ibats list ''
offers 'bond0 ib0 ib0.8001' ibats primary show ''
offers 'mlx5_0 mlx5_0/1 mlx5_0/2' ibats -d ''
offers 'mlx5_0 mlx5_0/1 mlx5_0/2' ibats --device=m
offers '' ibats -k ''
offers '--help --json' ibats monitor --
offers 'eth5' eipoib show dev ''
offers 'bond0 ib0 ib0.8001' eipoib add link ''
offers 'bond0 ib0 ib0.8001' eipoib slave dev ''
offers 'mac vlan' eipoib slave dev ib0 ''
offers '' eipoib slave dev ib0 vlan 5 ''
offers '' eipoib slave dev ib0 mac 02:00:00:00:00:01 ''
offers 'dev' eipoib slave vlan 5 ''
offers '--help --json' eipoib monitor -
offers '--help --json --pretty --version' eipoib show -
offers 'monitor' eipoib mon
# A user's shell may split words elsewhere
IFS=: offers 'help why' ipoib ''
IFS=: offers 'mlx5_0 mlx5_0/1 mlx5_0/2' ibats -d ''
IFS=: offers 'dev' eipoib slave vlan 5 ''

if [ -n "$(ls -A)" ]; then
	echo "executed: what made $(ls -A)"
	exit 1
fi
