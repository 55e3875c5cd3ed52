# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The ELF image inside a compressed x86 kernel image. Sourced, never run.

# number_at FILE OFFSET SIZE: prints the unsigned number of SIZE bytes at OFFSET.
number_at()
{
	od -A n -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# unpack_vmlinux IMAGE: QEMU can start an ELF image directly, which saves the guest the
# decompression. The header of the x86 boot protocol describes the payload: setup_sects,
# payload_offset, payload_length (whose last 4 bytes are the uncompressed size).
unpack_vmlinux()
{
	local image=$1 to=$1.payload sectors offset length

	sectors=$(number_at "$image" 0x1f1 1)
	offset=$(number_at "$image" 0x248 4)
	length=$(number_at "$image" 0x24c 4)
	dd if="$image" bs=1M iflag=skip_bytes,count_bytes status=none \
		skip=$(((sectors + 1) * 512 + offset)) count=$((length - 4)) >"$to"
	case $(od -A n -t x1 -N 4 "$to" | tr -d ' ') in
	fd377a58) xz -dc "$to" ;;
	28b52ffd) zstd -dcq "$to" ;;
	*) die "$image is compressed in an unknown way" ;;
	esac
	rm "$to"
}

