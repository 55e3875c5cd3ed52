# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# NFS 4.2 between two hosts: a file of 100 MB is copied there and back unchanged, also if a
# cable is unplugged meanwhile; by IPv4, and by IPv6 in another partition.
# timeout: 400
# soak: 400
# when: soak
# mem: 2048

. /cases/lib.sh

size=$((100 << 20))

# nfsdcld_watches: whether it has opened the server's pipe; the server does not wait for that.
nfsdcld_watches()
{
	for _fd in "/proc/$(pgrep -x nfsdcld)"/fd/*; do
		case $(readlink "$_fd") in
		*inotify*) return 0 ;;
		esac
	done
	return 1
}

# server_start: starts the kernel's server in h0, with the exports in file systems of that
# namespace.
server_start()
{
	modprobe nfsd
	mkdir -p /srv /mnt/nfs /run/pipefs /var/lib/nfs/nfsdcld
	mount -t tmpfs srv /srv
	on h0 mount -t rpc_pipefs pipefs /run/pipefs
	on h0 mount -t nfsd nfsd /proc/fs/nfsd
	# nfsdcld keeps the list of clients. It has none from before, so the server needs no
	# grace period
	traffic_start nfsdcld on h0 nfsdcld -F -p /run/pipefs
	wait_for 10 nfsdcld_watches
	# mountd tells the kernel what is exported to whom
	on h0 exportfs -i -o rw,no_root_squash,fsid=0,no_subtree_check '*:/srv'
	traffic_start mountd on h0 rpc.mountd -F -N 3
	on h0 rpc.nfsd -N 3 -V 4.2 -U -G 10 -L 10 4
	wait_for 20 listening h0 2049
}

server_stop()
{
	on h0 rpc.nfsd 0
	traffic_stop mountd
	traffic_stop nfsdcld
	umount /proc/fs/nfsd
	umount /run/pipefs
}

# client_mount ADDRESS: mounts anew, which also drops the file from the client's page cache.
client_mount()
{
	on h1 mount.nfs4 "$1:/" /mnt/nfs -o vers=4.2,proto="$proto",hard
	assert_match "the connection" "$(on h1 ss -Htn state established "dport = :2049")" \
		"[[]?${1#[}:2049"
}

client_unmount()
{
	on h1 umount.nfs4 /mnt/nfs
}

# moved DIRECTION LEAST: at least LEAST octets have crossed h1's interface since $before.
moved()
{
	[ "$(netdev_counter h1 "$dev" "$1_bytes")" -ge $((before + $2)) ]
}

# bounce DIRECTION: unplugs the cable and plugs it in, when an eighth of the file has crossed.
bounce()
{
	wait_for 60 moved "$1" $((size / 8))
	echo "switch0 2 down" >"$ibfab/cable"
	wait_for 10 not has_carrier h1 "$dev"
	assert kill -s 0 "$_dd"
	echo "switch0 2 up" >"$ibfab/cable"
	wait_for 60 has_carrier h1 "$dev"
}

# copied DIRECTION BOUNCES FROM TO: copies the file; all of it must have crossed h1's interface.
copied()
{
	before=$(netdev_counter h1 "$dev" "$1_bytes")
	now_ms
	_begun=$now_ms
	dd if="$3" of="$4" bs=1M conv=fsync status=none &
	_dd=$!
	repeat "$2" bounce "$1"
	wait "$_dd" || fail "the copy of $3 to $4"
	now_ms
	note "$((now_ms - _begun)) ms"
	assert moved "$1" "$size"
}

# there_and_back ADDRESS BOUNCES BOUNCES: the number of bounces is that on the way there, and
# on the way back.
there_and_back()
{
	step "$dev: to $1, bounces: $2"
	client_mount "$1"
	copied tx "$2" /run/sent /mnt/nfs/file
	assert same_file /run/sent /srv/file
	client_unmount
	step "$dev: back from $1, bounces: $3"
	client_mount "$1"
	copied rx "$3" /mnt/nfs/file /run/got
	assert same_file /run/sent /run/got
	rm /mnt/nfs/file /run/got
	client_unmount
}

# sums FOLDER: prints the checksums of all files in it.
sums()
{
	(cd "$1" && find . -type f -exec sha256sum {} + | sort)
}

fabric_start hcas=2
partitions_write 1
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 2
for n in 0 1; do
	ip -n h$n link add link ib$n name b$n type ipoib pkey 0x8001
	ip -n h$n address add "fd01::$((n + 1))/64" dev b$n nodad
	ip -n h$n link set b$n up
done
for n in 0 1; do
	wait_for 20 has_carrier h$n b$n
done
head -c "$size" /dev/urandom >/run/sent
server_start

dev=ib1 proto=tcp
there_and_back 10.0.0.1 1 0
dev=b1 proto=tcp6
there_and_back '[fd01::1]' 0 1

step "Many small files"
client_mount '[fd01::1]'
cp -a /etc /mnt/nfs/
client_unmount
client_mount '[fd01::1]'
sums /etc >/run/sums.sent
sums /mnt/nfs/etc >/run/sums.got
note "$(wc -l </run/sums.got) files"
assert test -s /run/sums.sent
cmp /run/sums.sent /run/sums.got
client_unmount
server_stop
netdev_has_none h0 rx_errors tx_errors rx_dropped
netdev_has_none h1 rx_errors tx_errors rx_dropped
