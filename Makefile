# hamel: GNU make, one file for everything. `make help` lists the targets.
#
# Three builds of the same sources live side by side: release in build/, build/debug with the address and undefined
# behaviour sanitizers, build/tsan with the thread sanitizer. Sources are found by wildcard, one line per room;
# a new file needs no change here. Every compilation first makes sure that the Debian packages are installed.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

PREFIX  ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
WERROR  ?= -Werror
# V=1 shows whole commands.
quiet = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)';)
LISTEN  ?= 127.0.0.1:8080
DATA    ?= build/data

# ---- sources: a room each ----

engine_sources := $(wildcard engine/*.c engine/*/*.c) engine/base/shortest_digits.cpp
api_sources    := $(wildcard api/*.c)
server_sources := $(filter-out server/main.c,$(wildcard server/*.c server/*/*.c))
cli_sources    := $(filter-out clients/cli/main.c,$(wildcard clients/cli/*.c))

# tests/ROOM/test_X.c is a program; other files of these rooms are shared by all of them.
test_rooms   := unit reference http fault
test_mains   := $(wildcard $(test_rooms:%=tests/%/test_*.c))
test_support := $(filter-out $(test_mains),$(wildcard $(test_rooms:%=tests/%/*.c)))
fuzz_mains   := $(wildcard tests/fuzz/fuzz_*.c)
bench_mains  := $(wildcard tests/bench/bench_*.c)
bench_support := $(filter-out $(bench_mains),$(wildcard tests/bench/*.c))

# ---- flags ----

# snprintf cuts messages on purpose, so gcc need not warn where it may.
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wstrict-prototypes -Wundef -Wno-format-truncation $(WERROR)
# -ffp-contract=off: a*b+c is rounded twice on every machine, so that a run gives the same bytes on all of them.
COMMON := -std=c11 -D_GNU_SOURCE -I. $(WARNINGS) -ffp-contract=off -fno-math-errno -pthread -g
HARDEN := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fcf-protection -fPIE
HARDEN_LINK := -pie -Wl,-z,relro,-z,now

flags_release := -O2 $(HARDEN)
link_release  := $(HARDEN_LINK)
flags_debug   := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
link_debug    := -fsanitize=address,undefined
# gcc 12 misjudges the sizes of arguments in code that it has instrumented.
flags_tsan    := -O1 -fno-omit-frame-pointer -fsanitize=thread -Wno-stringop-overflow
link_tsan     := -fsanitize=thread
flags_coverage := -O1 --coverage -Wno-error
link_coverage  := --coverage
# The inner loops, and what they are measured against: vectorized in release.
hot := engine/compile/% engine/solve/% engine/simulate/% tests/bench/%

# Coverage-guided fuzzing is clang's.
flags_fuzz := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -Wno-unknown-warning-option
link_fuzz  := -fsanitize=fuzzer,address,undefined
cc_fuzz    := clang

dir_release := build
dir_debug   := build/debug
dir_tsan    := build/tsan
dir_coverage := build/coverage
dir_fuzz    := build/fuzz

# The reference LAPACK, linked in: the one that a machine has chosen may round otherwise, and may start threads.
MULTIARCH := $(shell uname -m)-linux-gnu
LAPACK := $(addprefix /usr/lib/$(MULTIARCH)/,liblapacke.a lapack/liblapack.a blas/libblas.a) -lgfortran

LIBS := -lsundials_cvodes -lsundials_nvecserial -lsundials_sunmatrixdense -lsundials_sunlinsoldense \
        -lklu -lamd -lcamd -lcolamd -lbtf -lsuitesparseconfig $(LAPACK) -lflint -lmpfr -lgmp -ludunits2 \
        -lmicrohttpd -lgnutls -lseccomp -lsqlite3 -lpq -lcurl -lcairo -lcjson -lnettle -lz -lstdc++ -lm -lpthread
# SUNDIALS=PREFIX: the one that deploy/sundials.sh has built there with optimization, instead of Debian's.
ifneq ($(SUNDIALS),)
COMMON += -I$(SUNDIALS)/include
LIBS := -L$(SUNDIALS)/lib $(LIBS)
endif
LINK_TAIL := -Wl,--as-needed $(LIBS)

# ---- what is built ----

.PHONY: all debug tsan demo run test test-long fuzz load coverage bench lint format install clean help
all: build/hamel build/hameld
debug: build/debug/hamel build/debug/hameld
tsan: build/tsan/hamel build/tsan/hameld

help:
	@echo 'make              build/hamel and build/hameld'
	@echo 'make demo         build, start a server, stream a simulation from it, run a job'
	@echo 'make run          build and serve on $(LISTEN) (LISTEN=, DATA=)'
	@echo 'make test         all short tests; the last line counts them'
	@echo 'make test-long    the same with long fault, fuzz and physics runs, and under the thread sanitizer'
	@echo 'make fuzz         coverage-guided fuzzing, HAMEL_FUZZ_SECONDS for each target (900)'
	@echo 'make load         many requests at once on a daemon of its own'
	@echo 'make coverage     which lines and branches the tests reach'
	@echo 'make bench        measure against hand-written CVODE programs'
	@echo 'make SUNDIALS=DIR link the SUNDIALS that deploy/sundials.sh DIR has built (after make clean)'
	@echo 'make lint         clang, clang-tidy, cppcheck, format and house rules'
	@echo 'make format       clang-format all sources'
	@echo 'make debug, tsan  builds with sanitizers in build/debug, build/tsan'
	@echo 'make install      into PREFIX=$(PREFIX), below DESTDIR='
	@echo 'make clean        remove build/'

# The set-up of a group is done once; a change of the package list does it again.
build/.setup-%: deploy/packages.txt deploy/setup.sh
	@mkdir -p build
	@deploy/setup.sh $*
	@touch $@

# Files that become C: the shipped examples and the documents of the HTTP API, as byte arrays.
generated := build/generated/examples.c build/generated/documents.c
documents := api_openapi=api/openapi.json api_system_schema=api/system.schema.json \
  api_docs_html=api/docs/index.html api_docs_css=api/docs/docs.css api_docs_js=api/docs/docs.js \
  api_page_html=api/page/index.html api_page_css=api/page/page.css api_page_main=api/page/page.mjs \
  $(foreach f,canvas chart editor jobs motion rows scene server show text,api_page_$(f)=api/page/$(f).mjs)
build/generated/examples.c: api/embed_examples.sh $(wildcard api/examples/*.json)
	@mkdir -p $(@D)
	$(call quiet,embed,$@)api/embed_examples.sh $(sort $(filter %.json,$^)) > $@
build/generated/documents.c: api/embed_file.sh $(foreach d,$(documents),$(lastword $(subst =, ,$(d))))
	@mkdir -p $(@D)
	$(call quiet,embed,$@)for d in $(documents); do api/embed_file.sh "$${d%%=*}" "$${d#*=}" || exit 1; done > $@

# $(call variant,NAME): the rules of one build.
define variant
cc_$(1) ?= $$(CC)
$(1)_obj = $$(patsubst %,$$(dir_$(1))/obj/%.o,$$(basename $$(1)))

# One function of the C++ library, in every build as in release: it is not ours to sanitize.
$$(dir_$(1))/obj/%.o: %.cpp Makefile | build/.setup-build
	@mkdir -p $$(@D)
	$$(call quiet,c++,$$@)$$(CXX) -std=c++17 -I. -Wall -Wextra -Wconversion -Wshadow $$(WERROR) -O2 $$(HARDEN) -fno-exceptions -MMD -MP -c $$< -o $$@

$$(dir_$(1))/obj/%.o: %.c Makefile | build/.setup-build
	@mkdir -p $$(@D)
	$$(call quiet,cc,$$@)$$(cc_$(1)) $$(COMMON) $$(flags_$(1)) $$(if $$(filter release,$(1)),$$(if $$(filter $$(hot),$$<),-O3)) -MMD -MP -c $$< -o $$@
$$(dir_$(1))/obj/tests/%.o: tests/%.c Makefile | build/.setup-build build/.setup-test
	@mkdir -p $$(@D)
	$$(call quiet,cc,$$@)$$(cc_$(1)) $$(COMMON) $$(flags_$(1)) -MMD -MP -c $$< -o $$@

$$(dir_$(1))/libhamel_engine.a: $$(call $(1)_obj,$$(engine_sources))
$$(dir_$(1))/libhamel_api.a: $$(call $(1)_obj,$$(api_sources) $$(generated))
$$(dir_$(1))/libhamel_server.a: $$(call $(1)_obj,$$(server_sources))
$$(dir_$(1))/libhamel_cli.a: $$(call $(1)_obj,$$(cli_sources))
$$(dir_$(1))/libtest_support.a: $$(call $(1)_obj,$$(test_support))
$$(dir_$(1))/libbench_support.a: $$(call $(1)_obj,$$(bench_support))
$$(dir_$(1))/lib%.a:
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(call quiet,ar,$$@)ar rcs $$@ $$^

$(1)_engine := $$(dir_$(1))/libhamel_api.a $$(dir_$(1))/libhamel_engine.a
$(1)_link = $$(call quiet,link,$$@)$$(cc_$(1)) $$(flags_$(1)) -pthread -g $$(link_$(1)) -o $$@ $$(filter %.o %.a,$$^) $$(LINK_TAIL)

$$(dir_$(1))/hamel: $$(call $(1)_obj,clients/cli/main.c) $$(dir_$(1))/libhamel_cli.a $$($(1)_engine)
	$$($(1)_link)
$$(dir_$(1))/hameld: $$(call $(1)_obj,server/main.c) $$(dir_$(1))/libhamel_server.a $$($(1)_engine)
	$$($(1)_link)

$(1)_tests := $$(test_mains:%.c=$$(dir_$(1))/%)
$$($(1)_tests): $$(dir_$(1))/%: $$(dir_$(1))/obj/%.o $$(dir_$(1))/libtest_support.a $$(dir_$(1))/libhamel_server.a \
        $$(dir_$(1))/libhamel_cli.a $$($(1)_engine)
	@mkdir -p $$(@D)
	$$(call quiet,link,$$@)$$(cc_$(1)) $$(flags_$(1)) -pthread -g $$(link_$(1)) -o $$@ $$(filter %.o %.a,$$^) -Wl,--as-needed -lcmocka $$(LIBS)

$(1)_fuzz := $$(fuzz_mains:%.c=$$(dir_$(1))/%)
$$($(1)_fuzz): $$(dir_$(1))/%: $$(dir_$(1))/obj/%.o $$(if $$(filter fuzz,$(1)),,$$(dir_$(1))/obj/tests/fuzz/mutate_main.o) \
        $$(dir_$(1))/libhamel_server.a $$($(1)_engine)
	@mkdir -p $$(@D)
	$$($(1)_link)

$(1)_bench := $$(bench_mains:%.c=$$(dir_$(1))/%)
$$($(1)_bench): $$(dir_$(1))/%: $$(dir_$(1))/obj/%.o $$(dir_$(1))/libbench_support.a $$(dir_$(1))/libtest_support.a $$($(1)_engine)
	@mkdir -p $$(@D)
	$$($(1)_link)
endef
$(foreach v,release debug tsan coverage fuzz,$(eval $(call variant,$(v))))

.SECONDARY:
-include $(shell find build -name '*.d' 2>/dev/null)

# $(call in_rooms,PROGRAMS,ROOMS)
in_rooms = $(foreach room,$(2),$(foreach p,$(1),$(if $(findstring /tests/$(room)/,$(p)),$(p))))

# Faults of the machine on order, loaded into the programs of tests/fault by LD_PRELOAD.
export HAMEL_PRELOAD ?= $(CURDIR)/build/preload.so
build/preload.so: tests/fault/preload/preload.c tests/fault/faults.h Makefile | build/.setup-build
	@mkdir -p $(@D)
	$(call quiet,link,$@)$(CC) $(COMMON) -O2 -fPIC -shared -o $@ $<
$(call in_rooms,$(release_tests),fault): | build/preload.so

# Trees of bodies against Simbody, an independent engine in C++: in long tests only.
simbody_test := build/tests/simbody/test_simbody
build/obj/tests/simbody/%.o: tests/simbody/%.cpp Makefile | build/.setup-simbody
	@mkdir -p $(@D)
	$(call quiet,c++,$@)g++ -std=c++17 -I. -isystem /usr/include/simbody -Wall -Wextra -Werror -O1 -g -MMD -MP -c $< -o $@
$(simbody_test): build/obj/tests/simbody/test_simbody.o build/obj/tests/simbody/simbody_tree.o build/libtest_support.a \
        build/libhamel_server.a build/libhamel_cli.a $(release_engine)
	@mkdir -p $(@D)
	$(call quiet,link,$@)g++ -pthread -g $(link_release) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed \
	    -lSimTKsimbody -lSimTKmath -lSimTKcommon -lcmocka $(LIBS)

# ---- tests ----

fuzz_count ?= 20000
fuzz_requests ?= 3000
fuzz_runs = $(foreach f,$(notdir $(fuzz_mains:%.c=%)),"tests/tools/fuzz.sh build/debug/tests/fuzz/$(f) tests/fuzz/corpus_$(f:fuzz_%=%) $(if $(findstring http,$(f)),$(fuzz_requests),$(fuzz_count))")\
  "tests/tools/fuzz.sh build/debug/tests/fuzz/fuzz_description api/examples $(fuzz_count)"

# Programs that start the daemon or the command line take them from here.
export HAMEL  ?= $(CURDIR)/build/hamel
export HAMELD ?= $(CURDIR)/build/hameld

# What the HTTP tests ask and are answered, for the check of the API's description at their end.
exchanges := $(CURDIR)/build/exchanges.ndjson
export HAMEL_TEST_EXCHANGES := $(exchanges)

tests_build := all $(release_tests) $(call in_rooms,$(debug_tests),unit) $(debug_fuzz)
tests_run = tests/run.sh tests/tools/check_house.sh tests/tools/check_deploy.sh tests/tools/check_unit.py tests/tools/check_queue_model.sh tests/golden/run.sh tests/cli/run.sh \
    tests/cli/jobs.sh tests/cli/plot.sh tests/cli/sweep.sh tests/cli/documents.sh tests/page/check_page.sh $(wildcard tests/page/test_*.mjs) \
    $(call in_rooms,$(release_tests) $(debug_tests),unit) $(call in_rooms,$(release_tests),reference) $(fuzz_runs) \
    --alone $(call in_rooms,$(release_tests),http fault) tests/load/hostile.sh tests/load/mix.sh tests/http/check_openapi.py

test: build/.setup-test $(tests_build)
	@rm -f $(exchanges)
	@$(tests_run)

# Under valgrind runs are slow enough for events of progress, which test_negotiation does not expect.
test-long: export HAMEL_TEST_LONG := 1
test-long: export HAMEL_TEST_LIMIT := 3600
test-long: fuzz_count := 1000000
test-long: fuzz_requests := 100000
test-long: build/.setup-test $(tests_build) debug $(tsan_tests)
	@rm -f $(exchanges)
	@$(tests_run) \
	    $(foreach t,$(call in_rooms,$(debug_tests),http),"env HAMELD=$(CURDIR)/build/debug/hameld $(t)") \
	    $(foreach t,$(call in_rooms,$(tsan_tests),http unit),"env HAMELD=$(CURDIR)/build/tsan/hameld $(t)") \
	    $(foreach t,$(filter-out %/test_negotiation,$(call in_rooms,$(release_tests),http)),"env HAMELD=$(CURDIR)/tests/tools/valgrind/hameld $(t)") \
	    $(simbody_test) $(guided_runs) tests/load/soak.sh
test-long: build/.setup-load build/.setup-fuzz build/.setup-simbody $(fuzz_fuzz) $(simbody_test)
test-long: $(call in_rooms,$(debug_tests),http) tsan

# Each fuzz target for HAMEL_FUZZ_SECONDS, guided by what of the code its inputs reach.
guided_runs = $(foreach f,$(notdir $(fuzz_mains:%.c=%)),"tests/tools/fuzz_guided.sh build/fuzz/tests/fuzz/$(f) tests/fuzz/corpus_$(f:fuzz_%=%) $(if $(findstring description,$(f)),api/examples)")
fuzz: build/.setup-fuzz $(fuzz_fuzz)
	@HAMEL_TEST_LIMIT=$$(($${HAMEL_FUZZ_SECONDS:-900} + 300)) tests/run.sh $(guided_runs)
$(fuzz_fuzz): | build/.setup-fuzz

load: build/.setup-load all
	@tests/run.sh --alone tests/load/run.sh

# What the tests reach, by gcov.
coverage: build/.setup-test $(call in_rooms,$(coverage_tests),unit reference http) build/coverage/hamel build/coverage/hameld
	@find build/coverage -name '*.gcda' -delete
	@HAMEL=$(CURDIR)/build/coverage/hamel HAMELD=$(CURDIR)/build/coverage/hameld tests/run.sh tests/golden/run.sh \
	    tests/cli/run.sh $(call in_rooms,$(coverage_tests),unit reference) --alone $(call in_rooms,$(coverage_tests),http)
	@tests/tools/coverage.sh build/coverage/obj

bench: $(release_bench)
	@for program in $^; do echo; echo "== $$program"; $$program || exit 1; done

# ---- style ----

all_sources = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')

lint: build/.setup-build build/.setup-test build/.setup-lint $(generated)
	tests/tools/lint.sh

format: build/.setup-lint
	clang-format -i $(all_sources)

# ---- use ----

demo: build/.setup-demo all
	@clients/demo.sh

run: all
	@mkdir -p $(DATA)
	build/hameld --listen $(LISTEN) --data $(DATA)

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/hamel/examples $(DESTDIR)$(PREFIX)/share/doc/hamel
	install -m 755 build/hamel build/hameld $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(wildcard api/examples/*.json) $(DESTDIR)$(PREFIX)/share/hamel/examples
	install -m 644 $(wildcard api/*.json) $(DESTDIR)$(PREFIX)/share/hamel
	install -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/hamel
	for f in *.md server/*.md api/examples/*.md; do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/doc/hamel/$$f || exit 1; done

clean:
	rm -rf build
