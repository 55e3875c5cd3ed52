# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Builds, installs and tests the modules. `make help` lists the targets.
#
# Nothing is written beside the sources: build/<kernel release>/ mirrors them by
# symbolic links, with a folder for each set of modules, and kbuild works there.

KDIR ?= /lib/modules/$(shell uname -r)/build
KREL = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(RELEASE_H))
RELEASE_H = $(KDIR)/include/generated/utsrelease.h
BUILD := $(CURDIR)/build
INSTALL_MOD_PATH ?= $(DESTDIR)
UPDATES = $(INSTALL_MOD_PATH)/lib/modules/$(KREL)/updates
# Guests are idle half of the time, so two run for each CPU unless JOBS is set
GUESTS := $(or $(JOBS),$(shell expr 2 \* $$(nproc)))
JOBS ?= $(shell nproc)

VERSION = $(shell sed -n 's/^.define IB_IPOIB_VERSION "\(.*\)"/\1/p' version.h)

# The tools and all manuals go below $(DESTDIR)$(PREFIX)
PREFIX ?= /usr/local
SBIN = $(DESTDIR)$(PREFIX)/sbin
MAN = $(DESTDIR)$(PREFIX)/share/man
MAN4 = $(MAN)/man4
MAN8 = $(MAN)/man8
COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
TOOL_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS ?= -O2 -g

HARNESS := tests/qemu

# Where kernels differ, for each set of modules
compat := compat.h compat.mk

# $(call mirror,SOURCES,FOLDER): fills FOLDER with a link to each of SOURCES, and removes
# links to files that do not exist any more.
define mirror
	@mkdir -p $(2)
	@find $(2) -maxdepth 1 -xtype l -delete
	@ln -sf $(abspath $(1)) $(2)/
endef

# $(call kbuild,FOLDER[,GOALS[,CFLAGS]]): makes modules, or the goals. BTF of modules requires the
# kernel's vmlinux, which header packages lack, so that kbuild would warn for each module.
# A -j given to make, as DKMS gives one, is used as it is; the + passes it on. With STRICT=1 a
# warning is an error, and there is no information for debuggers, which takes a sixth of the time.
# All checks build so, because kbuild compiles again what was compiled with other options. They leave
# kernel-doc to make lint.
kbuild = +$(call run_kbuild,$(1),$(2),$(3))
run_kbuild = $(MAKE) -C $(KDIR) M=$(1) CONFIG_DEBUG_INFO_BTF_MODULES= \
	$(if $(STRICT),W=1 cmd_checkdoc=) \
	KCFLAGS='$(strip $(if $(STRICT),-g0 -Werror) $(KCFLAGS) $(3))' \
	$(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS)) --no-print-directory $(or $(2),modules)

.PHONY: all driver ats eth fabric probes kunit kdir tools test-tools install uninstall clean help
.PHONY: driver-sources ats-sources eth-sources fabric-sources probes-sources kunit-sources sources
.PHONY: kunit-driver kunit-ats kunit-eth
.PHONY: kunit-objects kunit-driver-objects kunit-ats-objects kunit-eth-objects
.PHONY: call-graph compat compile-all matrix lines lint docs check capture coverage soak mutants demo demo-vm shell floor bench plots profile profile-exact

all: driver ats eth

kdir:
	@test -e $(RELEASE_H) || { \
		echo "No kernel build folder at $(KDIR):" \
			"install the kernel's headers, or give KDIR=" >&2; \
		exit 1; }

# Each set of modules has a target of its own for the links
driver-sources: kdir
	$(call mirror,Kbuild $(compat) $(wildcard *.c *.h),$(BUILD)/$(KREL)/driver)

driver: driver-sources
	$(call kbuild,$(BUILD)/$(KREL)/driver)

ats_headers := $(wildcard include/ib_ats.h uapi/*.h) version.h

ats-sources: kdir
	$(call mirror,ats/Kbuild $(compat) $(wildcard ats/*.[ch]) $(ats_headers),$(BUILD)/$(KREL)/ats)

ats: ats-sources
	$(call kbuild,$(BUILD)/$(KREL)/ats)

eth-sources: kdir
	$(call mirror,eth_ipoib/Kbuild $(compat) $(wildcard eth_ipoib/*.[ch]) \
		$(wildcard uapi/eipoib_*.h) version.h,$(BUILD)/$(KREL)/eth)

eth: eth-sources
	$(call kbuild,$(BUILD)/$(KREL)/eth)

# It uses the line parser of the probes
fabric-sources: kdir
	$(call mirror,tests/fabric/Kbuild $(compat) $(wildcard tests/fabric/*.[ch]) \
		tests/probes/ibtool.h version.h,$(BUILD)/$(KREL)/fabric)

fabric: fabric-sources
	$(call kbuild,$(BUILD)/$(KREL)/fabric)

# One of them uses symbols of ib_ats.ko
probes-sources: kdir
	$(call mirror,tests/probes/Kbuild $(compat) $(wildcard tests/probes/*.[ch]) \
		$(ats_headers),$(BUILD)/$(KREL)/probes)

# kbuild does not notice when the versions of these symbols change
probes: probes-sources ats
	@[ ! $(BUILD)/$(KREL)/ats/Module.symvers -nt $(BUILD)/$(KREL)/probes/Module.symvers ] || \
		rm -f $(BUILD)/$(KREL)/probes/Module.symvers
	$(call kbuild,$(BUILD)/$(KREL)/probes) \
		KBUILD_EXTRA_SYMBOLS=$(BUILD)/$(KREL)/ats/Module.symvers

# Features that the kernel has, by the probes of compat.mk
compat: kdir
	$(call mirror,tests/compat/Kbuild compat.mk,$(BUILD)/$(KREL)/compat)
	@found=$$($(call run_kbuild,$(BUILD)/$(KREL)/compat) -s) && printf '%s\n' $$found | \
		sed -n 's/^-DCOMPAT_HAVE_//p' | sort -u

# The driver and its KUnit suites in one module, for a kernel with CONFIG_KUNIT, and likewise
# Ethernet over IPoIB, and those parts of the Address Translation Service that need no HCA
kunit-sources: kdir
	$(call mirror,tests/kunit/driver/Kbuild compat.mk \
		$(wildcard tests/kunit/driver/*.[ch]) $(wildcard *.c *.h),$(BUILD)/$(KREL)/kunit)
	$(call mirror,tests/kunit/ats/Kbuild $(compat) \
		$(wildcard tests/kunit/ats/*.[ch]) $(wildcard ats/*.[ch]) \
		$(ats_headers),$(BUILD)/$(KREL)/kunit-ats)
	$(call mirror,tests/kunit/eth/Kbuild $(compat) \
		$(wildcard tests/kunit/eth/*.[ch]) $(wildcard eth_ipoib/*.[ch]) \
		$(wildcard uapi/eipoib_*.h) version.h,$(BUILD)/$(KREL)/kunit-eth)

kunit-driver: kunit-sources
	$(call kbuild,$(BUILD)/$(KREL)/kunit)

kunit-ats: kunit-sources
	$(call kbuild,$(BUILD)/$(KREL)/kunit-ats)

kunit-eth: kunit-sources
	$(call kbuild,$(BUILD)/$(KREL)/kunit-eth)

kunit: kunit-driver kunit-ats kunit-eth

# The suites' own files, which only require the kernel's headers. They are compiled as for a
# kernel with KUnit and fault injection, since they can be loaded into no other.
kunit_config := -DCONFIG_KUNIT=1 -DCONFIG_FAULT_INJECTION=1
objects_of = $(patsubst %.c,%.o,$(notdir $(wildcard $(1)/*.c)))
kunit-driver-objects: kunit-sources
	$(call kbuild,$(BUILD)/$(KREL)/kunit,$(call objects_of,tests/kunit/driver),$(kunit_config))

kunit-ats-objects: kunit-sources
	$(call kbuild,$(BUILD)/$(KREL)/kunit-ats,$(call objects_of,tests/kunit/ats),$(kunit_config))

kunit-eth-objects: kunit-sources
	$(call kbuild,$(BUILD)/$(KREL)/kunit-eth,$(call objects_of,tests/kunit/eth),$(kunit_config))

kunit-objects: kunit-driver-objects kunit-ats-objects kunit-eth-objects

sources: driver-sources ats-sources eth-sources fabric-sources probes-sources kunit-sources

# Each tool has a manual. It consists of the files that begin with its name, and of those that all
# tools have in common.
tool_names := $(basename $(notdir $(wildcard tools/*.8)))
tool_sources = $(wildcard tools/tool_*.c tools/$(1).c tools/$(1)_*.c)
tool_objects = $(patsubst tools/%.c,$(BUILD)/tools.obj/%.o,$(tool_sources))

$(BUILD)/tools.obj/%.o: tools/%.c $(wildcard tools/*.h uapi/*.h) version.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(TOOL_CFLAGS) -c -o $@ $<

.SECONDEXPANSION:
$(addprefix $(BUILD)/tools/,$(tool_names)): $$(call tool_objects,$$(@F))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lmnl -ljson-c

tools: $(addprefix $(BUILD)/tools/,$(tool_names))

# Programs for cases, which are not installed
$(BUILD)/test-tools/ibhooks: $(wildcard tests/tools/ibhooks*.[ch])
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(TOOL_CFLAGS) $(LDFLAGS) -o $@ \
		$(filter %.c,$^) -lmnl

$(BUILD)/test-tools/atsflood: uapi/ib_ats_netlink.h
$(BUILD)/test-tools/atsflood $(BUILD)/test-tools/netdevq: $(BUILD)/test-tools/%: tests/tools/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(TOOL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) -lmnl

$(BUILD)/test-tools/%: tests/tools/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(TOOL_CFLAGS) $(LDFLAGS) -o $@ $<

test-tools: $(addprefix $(BUILD)/test-tools/,atsflood ibecho ibhooks ibvnet netdevq talker)

# Which files call which, in the modules and tools. A module's .mod file lists its objects.
objects_of_module = $$(sed 's,.*/,$(1)/,' $(1)/$(2).mod)
call-graph: driver ats eth tools
	@echo 'ib_ipoib:'
	@tests/call_graph.py $(call objects_of_module,$(BUILD)/$(KREL)/driver,ib_ipoib)
	@echo 'ib_ats:'
	@tests/call_graph.py $(call objects_of_module,$(BUILD)/$(KREL)/ats,ib_ats)
	@echo 'eth_ipoib:'
	@tests/call_graph.py $(call objects_of_module,$(BUILD)/$(KREL)/eth,eth_ipoib)
	@$(foreach tool,$(tool_names),echo '$(tool):' && \
		tests/call_graph.py $(call tool_objects,$(tool)) &&) :

# Lines of code, without comments and blank lines
lines:
	@count() { for file; do $(CC) -w -fpreprocessed -dD -P -E -x c "$$file" || exit; done | \
			grep -cv '^[[:space:]]*$$'; }; \
		printf '%6d  %s\n' $$(count *.[ch]) 'driver' $$(count ats/*.[ch]) 'ats' \
			$$(count eth_ipoib/*.[ch]) 'eth_ipoib' \
			$$(count tools/*.[ch]) 'tools' $$(count tests/fabric/*.[ch]) 'tests/fabric' \
			$$(count tests/probes/*.[ch]) 'tests/probes' \
			$$(count tests/kunit/*/*.[ch]) 'tests/kunit'

install: install-modules install-tools install-manuals
	@packaging/loaded.sh $(UPDATES)

tool_names := eipoib ibats ipoib

# The manuals of the modules. That of the virtual fabric comes with its package only.
manuals := ib_ipoib.4 ib_ats.4 eth_ipoib.4

.PHONY: install-modules install-tools install-manuals install-manual-ibfab
install-modules: driver ats eth
	@for other in $(wildcard $(addsuffix /ib_ipoib.ko*,$(UPDATES)/dkms $(UPDATES)/../extra)); do \
		echo "$$other is there, from a package or DKMS: remove that first, as modprobe may" \
			"prefer either of two" >&2; \
		exit 1; \
	done
	install -D -m 644 -t $(UPDATES) $(BUILD)/$(KREL)/driver/ib_ipoib.ko \
		$(BUILD)/$(KREL)/ats/ib_ats.ko $(BUILD)/$(KREL)/eth/eth_ipoib.ko
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KREL)

install-tools: tools
	install -D -t $(SBIN) $(addprefix $(BUILD)/tools/,$(tool_names))
	install -D -m 644 -t $(MAN8) $(tool_names:%=tools/%.8)
	for tool in $(tool_names); do \
		install -D -m 644 tools/$$tool.bash-completion $(COMPLETIONS)/$$tool || exit; \
	done

install-manuals:
	install -D -m 644 -t $(MAN4) $(manuals:%=man/%)

install-manual-ibfab:
	install -D -m 644 -t $(MAN4) man/ibfab.4

uninstall: kdir
	rm -f $(addprefix $(UPDATES)/,ib_ipoib.ko ib_ats.ko eth_ipoib.ko)
	rm -f $(manuals:%=$(MAN4)/%)
	rm -f $(foreach tool,$(tool_names),$(SBIN)/$(tool) $(MAN8)/$(tool).8 $(COMPLETIONS)/$(tool))
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KREL)

# The source trees for DKMS. They are defined by patterns, so that they include new files.
dkms_ib-ipoib = Makefile Kbuild $(wildcard *.mk *.[ch]) ats eth_ipoib include uapi
dkms_ibfab = Makefile $(wildcard *.mk) compat.h version.h tests/fabric tests/probes/ibtool.h
dkms_conf_ib-ipoib = dkms.conf
dkms_conf_ibfab = packaging/ibfab.dkms.conf
install-dkms-%:
	@mkdir -p $(DESTDIR)/usr/src/$*-$(VERSION)
	cp -R --parents $(dkms_$*) LICENSES $(DESTDIR)/usr/src/$*-$(VERSION)
	sed 's/#MODULE_VERSION#/$(VERSION)/' $(dkms_conf_$*) \
		>$(DESTDIR)/usr/src/$*-$(VERSION)/dkms.conf

.PHONY: deb rpm release
deb rpm:
	@packaging/$@.sh

release:
	@packaging/release.sh '$(VERSION)'

clean:
	rm -rf $(BUILD)

lint:
	@tests/lint.sh

docs:
	@tests/docs.sh
	@echo '$(BUILD)/docs/html/index.html'

# The shell's variable SECONDS would start from this value
unexport SECONDS
check = $(HARNESS)/check.sh --jobs $(GUESTS) $(if $(KERNEL),--kernel $(KERNEL)) \
	$(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS)) \
	$(if $(HOSTS),--hosts $(HOSTS)) $(if $(SUITE),--suite '$(SUITE)') \
	$(if $(PROFILE),--profile $(PROFILE))

check:
	@$(check) $(if $(T),'$(T)')

capture:
	@$(check) --capture $(if $(T),'$(T)')

soak:
	@$(check) --soak $(if $(T),'$(T)')

compile-all:
	@$(HARNESS)/compile-all.sh

matrix:
	@$(check) --matrix $(if $(T),'$(T)')

mutants:
	@tests/mutants/mutants.sh --jobs $(JOBS) $(if $(T),'$(T)')

coverage:
	@$(HARNESS)/coverage.sh --jobs $(GUESTS) $(if $(T),'$(T)')

demo:
	@$(HARNESS)/demo.sh

demo-vm:
	@$(HARNESS)/demo.sh vm

shell:
	@$(HARNESS)/shell.sh $(KERNEL)

floor:
	@tests/bench/floor.sh

bench:
	@tests/bench/bench.sh $(if $(PART),--part '$(PART)')

plots:
	@tests/bench/plots.sh

profile:
	@tests/bench/bench.sh --profile "$(T)" "$(LINK)"

profile-exact:
	@tests/bench/bench.sh --exact "$(T)" "$(LINK)"

help:
	@echo 'Build (against KDIR=$(KDIR))'
	@echo '  make             ib_ipoib.ko, ib_ats.ko and eth_ipoib.ko, into build/<kernel release>'
	@echo '  make driver      only the driver, ib_ipoib.ko'
	@echo '  make ats         only the Address Translation Service, ib_ats.ko'
	@echo '  make eth         only Ethernet over IPoIB, eth_ipoib.ko'
	@echo '  make tools       the command line tools, ibats, eipoib and ipoib, into build/tools'
	@echo '  make fabric      the virtual fabric, ibfab.ko'
	@echo '  make probes      modules for testing an RDMA device and other ports of its fabric'
	@echo '  make kunit       the driver with its KUnit suites, for a kernel with KUnit'
	@echo '  make test-tools  the programs of the test cases, into build/test-tools'
	@echo '  make compat      lists the features of the kernel that the probes of compat.mk find'
	@echo '  make install     the modules into the kernel'\''s updates/, depmod; the tools and'
	@echo '                   the manuals below PREFIX=$(PREFIX)'
	@echo '  make install-modules, install-tools, install-manuals   only these'
	@echo '  make uninstall   removes them, the modules for the kernel of KDIR'
	@echo '  make docs        the documents and manuals, as HTML and manual pages, into build/docs'
	@echo '  make clean       removes build/'
	@echo 'Packages (missing Debian packages are installed)'
	@echo '  make deb         ib-ipoib-dkms, ib-ipoib-tools and ibfab-dkms, into build/deb'
	@echo '  make rpm         the same as RPM packages, into build/rpm'
	@echo '  make install-dkms-ib-ipoib, make install-dkms-ibfab   only the sources for DKMS,'
	@echo '                   into $(DESTDIR)/usr/src'
	@echo '  make release VERSION=X   writes the new version to all files that state it'
	@echo 'Test (in QEMU guests; missing Debian packages are installed)'
	@echo '  make demo        two hosts ping each other through the driver'
	@echo '  make demo-vm     a virtual machine on an Ethernet device over IPoIB is moved to another host'
	@echo '  make check       all cases of tests/cases, JOBS=N guests at a time'
	@echo '  make check T=X   one case, or a pattern of them'
	@echo '  make check KERNEL=K T=X   the same, on another kernel: debug, 6.12, or newest'
	@echo '  make matrix      all cases on all kernels, as a table; T=X as above'
	@echo '  make compile-all   builds for all kernels, and compares what compat.mk finds'
	@echo '  make check T=ipoib-fuzz SEED=N SECONDS=S   other random frames, or more of them'
	@echo '  make soak        the long forms of the cases that have one; T=X as above'
	@echo '  make capture T=X   like check, and writes the packets to build/check/X/capture.erf'
	@echo '  make coverage    which lines of the driver are run by KUnit suites and cases,'
	@echo '                   as a table and in build/coverage/html; T=X: only X'\''s'
	@echo '  make mutants     breaks the driver in one way at a time (tests/mutants), and runs'
	@echo '                   the test that must notice it. T=X: only these mutants'
	@echo '  make shell       a prompt in a guest with the demo'\''s fabric;'
	@echo '                   KERNEL=debug: on the debug kernel'
	@echo '  make bench       the cost of traffic with this driver and the in-tree driver;'
	@echo '                   PART=X: one part of it, such as connected or traffic'
	@echo '  make plots       draws the figures of Documentation/performance.rst from the recorded'
	@echo '                   results, tests/bench/results; as PNG into build/plots'
	@echo '  make profile T=X the same by functions; X as in tcp,25000000 or udp,20000,1400'
	@echo '  make profile-exact T=X LINK=4,none   the same, with each instruction counted'
	@echo '  make floor       the instructions for a datagram without any protocol'
	@echo '                   on the fabric, by functions'
	@echo '  make call-graph  which files call which, in layers, and circular calls'
	@echo '  make lines       the number of lines of code of each part'
	@echo '  make lint        compiler, sparse, checkpatch, shellcheck and other checks'
