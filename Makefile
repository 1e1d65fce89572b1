# The only makefile of hamel, for GNU make. `make help` lists the targets.
#
# build/ contains the release. build/debug, build/tsan, build/coverage and build/fuzz contain instrumented builds of the
# same sources. Wildcards find the sources, so a new file needs no change here. Every build first installs missing
# Debian packages.

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
# V=1 prints complete commands.
quiet = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)';)
LISTEN  ?= 127.0.0.1:8080
DATA    ?= build/data

# ---- sources ----

engine_sources := $(wildcard engine/*.c engine/*/*.c engine/*/*/*.c) engine/base/shortest_digits.cpp
api_sources    := $(wildcard api/*.c api/*/*.c)
server_sources := $(filter-out server/main.c,$(wildcard server/*.c server/*/*.c))
cli_sources    := $(filter-out clients/cli/main.c,$(wildcard clients/cli/*.c clients/cli/*/*.c))

# Each tests/FOLDER/test_X.c is a program. The other files of the folder are linked into each of these programs.
test_folders := unit reference http fault
test_mains   := $(wildcard $(test_folders:%=tests/%/test_*.c))
test_support := $(filter-out $(test_mains),$(wildcard $(test_folders:%=tests/%/*.c)))
fuzz_mains   := $(wildcard tests/fuzz/fuzz_*.c)
bench_mains  := $(wildcard tests/bench/bench_*.c)
bench_support := $(filter-out $(bench_mains),$(wildcard tests/bench/*.c))

# ---- flags ----

# snprintf truncates messages on purpose.
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wstrict-prototypes -Wundef -Wno-format-truncation $(WERROR)
# -ffp-contract=off rounds a*b+c twice on every machine, so that all machines produce the same bytes.
COMMON := -std=c11 -D_GNU_SOURCE -I. -Ibuild/generated $(WARNINGS) -ffp-contract=off -fno-math-errno -pthread -g
HARDEN := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fcf-protection -fPIE
HARDEN_LINK := -pie -Wl,-z,relro,-z,now

flags_release := -O2 -DNDEBUG $(HARDEN)
link_release  := $(HARDEN_LINK)
flags_debug   := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
link_debug    := -fsanitize=address,undefined
# gcc 12 reports false overflows in instrumented code.
flags_tsan    := -O1 -fno-omit-frame-pointer -fsanitize=thread -Wno-stringop-overflow
link_tsan     := -fsanitize=thread
flags_coverage := -O1 --coverage -Wno-error
link_coverage  := --coverage
# Inner loops, and the benchmark programs compared with them, are vectorized in release.
hot := engine/compile/% engine/linear/% engine/dynamics/% engine/sensitivity/% engine/simulate/% tests/bench/%

# Coverage-guided fuzzing requires clang.
flags_fuzz := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -Wno-unknown-warning-option
link_fuzz  := -fsanitize=fuzzer,address,undefined
cc_fuzz    := clang

dir_release := build
dir_debug   := build/debug
dir_tsan    := build/tsan
dir_coverage := build/coverage
dir_fuzz    := build/fuzz

# The reference LAPACK is linked statically, because other implementations may round differently and start threads.
MULTIARCH := $(shell uname -m)-linux-gnu
LAPACK := $(addprefix /usr/lib/$(MULTIARCH)/,liblapacke.a lapack/liblapack.a blas/libblas.a) -lgfortran

LIBS := -lsundials_cvodes -lsundials_nvecserial -lsundials_sunmatrixdense -lsundials_sunlinsoldense \
        -lklu -lamd -lcamd -lcolamd -lbtf -lsuitesparseconfig $(LAPACK) -lflint -lmpfr -lgmp -ludunits2 \
        -lmicrohttpd -lgnutls -lseccomp -lsqlite3 -lpq -lcurl -lcairo -lcjson -lnettle -lz -lstdc++ -lm -lpthread
# SUNDIALS=PREFIX links the optimized SUNDIALS that deploy/sundials.sh has built in PREFIX, instead of Debian's.
ifneq ($(SUNDIALS),)
COMMON += -I$(SUNDIALS)/include
LIBS := -L$(SUNDIALS)/lib $(LIBS)
endif
LINK_TAIL := -Wl,--as-needed $(LIBS)

# ---- programs ----

.PHONY: all debug tsan demo run check test test-long fuzz load coverage bench lint format install clean help
all: build/hamel build/hameld
debug: build/debug/hamel build/debug/hameld
tsan: build/tsan/hamel build/tsan/hameld

help:
	@echo 'make              build build/hamel and build/hameld'
	@echo 'make demo         build, start a server, stream a simulation from it, run a job'
	@echo 'make run          build and serve on $(LISTEN) (LISTEN=, DATA=)'
	@echo 'make check        build; run unit tests, diagnostics, and lint of the changed files: about a minute'
	@echo 'make test         run all short tests; the last line counts them'
	@echo 'make test-long    run all tests, including the thread sanitizer and long fault, fuzz and physics runs'
	@echo 'make fuzz         fuzz each target for HAMEL_FUZZ_SECONDS (900), guided by coverage'
	@echo 'make load         send many concurrent requests to a separate daemon'
	@echo 'make coverage     report the lines and branches that the tests execute'
	@echo 'make bench        compare the speed with hand-written CVODE programs'
	@echo 'make SUNDIALS=DIR build with the SUNDIALS made by deploy/sundials.sh DIR (after make clean)'
	@echo 'make lint         run clang, clang-tidy and cppcheck; check format, sources and words'
	@echo 'make format       format all sources with clang-format'
	@echo 'make debug, tsan  build with sanitizers in build/debug, build/tsan'
	@echo 'make install      install into PREFIX=$(PREFIX), below DESTDIR='
	@echo 'make clean        remove build/'

# Each group of packages is installed once, and again if the package list has changed.
build/.setup-%: deploy/packages.txt deploy/setup.sh
	@mkdir -p build
	@deploy/setup.sh $*
	@touch $@

# Generate C with the shipped examples and the documents of the HTTP API as byte arrays.
generated := build/generated/examples.c build/generated/documents.c
# Generate C with the SQL statements as named strings.
statements := build/generated/server/jobs/statements.h
documents := api_openapi=api/openapi.json api_system_schema=api/system.schema.json \
  api_docs_html=api/docs/index.html api_docs_css=api/docs/docs.css api_docs_js=api/docs/docs.js \
  api_page_html=clients/web/index.html api_page_css=clients/web/page.css api_page_main=clients/web/page.mjs \
  $(foreach f,canvas chart editor jobs motion rows scene server show text,api_page_$(f)=clients/web/$(f).mjs)
build/generated/examples.c: api/embed_examples.sh $(wildcard api/examples/*.json)
	@mkdir -p $(@D)
	$(call quiet,embed,$@)api/embed_examples.sh $(sort $(filter %.json,$^)) > $@
build/generated/documents.c: api/embed_file.sh $(foreach d,$(documents),$(lastword $(subst =, ,$(d))))
	@mkdir -p $(@D)
	$(call quiet,embed,$@)for d in $(documents); do api/embed_file.sh "$${d%%=*}" "$${d#*=}" || exit 1; done > $@

sql := $(addprefix server/jobs/sql/,shared.sql sqlite.sql postgres.sql sqlite_schema.sql postgres_schema.sql)
$(statements): server/jobs/embed_sql.sh $(sql)
	@mkdir -p $(@D)
	$(call quiet,embed,$@)$^ > $@

# $(call variant,NAME) defines the rules of one build variant.
define variant
cc_$(1) ?= $$(CC)
$(1)_obj = $$(patsubst %,$$(dir_$(1))/obj/%.o,$$(basename $$(1)))

# The only file that calls a C++ library (std::to_chars) is compiled without sanitizers in every variant.
$$(dir_$(1))/obj/%.o: %.cpp Makefile | build/.setup-build
	@mkdir -p $$(@D)
	$$(call quiet,c++,$$@)$$(CXX) -std=c++17 -I. -Wall -Wextra -Wconversion -Wshadow $$(WERROR) -O2 $$(HARDEN) -fno-exceptions -MMD -MP -c $$< -o $$@

$$(dir_$(1))/obj/%.o: %.c Makefile | build/.setup-build $(statements)
	@mkdir -p $$(@D)
	$$(call quiet,cc,$$@)$$(cc_$(1)) $$(COMMON) $$(flags_$(1)) $$(if $$(filter release,$(1)),$$(if $$(filter $$(hot),$$<),-O3)) -MMD -MP -c $$< -o $$@
$$(dir_$(1))/obj/tests/%.o: tests/%.c Makefile | build/.setup-build build/.setup-test $(statements)
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

# $(call in_folders,PROGRAMS,FOLDERS) selects the programs in these folders of tests/.
in_folders = $(foreach folder,$(2),$(foreach p,$(1),$(if $(findstring /tests/$(folder)/,$(p)),$(p))))

# Library that makes system calls fail; LD_PRELOAD loads it into the programs of tests/fault.
export HAMEL_PRELOAD ?= $(CURDIR)/build/preload.so
build/preload.so: tests/fault/preload/preload.c tests/fault/faults.h Makefile | build/.setup-build
	@mkdir -p $(@D)
	$(call quiet,link,$@)$(CC) $(COMMON) -O2 -fPIC -shared -o $@ $<
$(call in_folders,$(release_tests),fault): | build/preload.so

# Comparison of trees of bodies with Simbody, an independent engine in C++; runs only in long tests.
simbody_test := build/tests/simbody/test_simbody
build/obj/tests/simbody/%.o: tests/simbody/%.cpp Makefile | build/.setup-simbody
	@mkdir -p $(@D)
	$(call quiet,c++,$@)g++ -std=c++17 -I. -isystem /usr/include/simbody -Wall -Wextra -Werror -O1 -g -MMD -MP -c $< -o $@
$(simbody_test): build/obj/tests/simbody/test_simbody.o build/obj/tests/simbody/simbody_tree.o build/libtest_support.a \
        build/libhamel_server.a build/libhamel_cli.a $(release_engine)
	@mkdir -p $(@D)
	$(call quiet,link,$@)g++ -pthread -g $(link_release) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed \
	    -lSimTKsimbody -lSimTKmath -lSimTKcommon -lcmocka $(LIBS)

# bench_trees compares with Simbody if libsimbody-dev is installed.
ifneq ($(wildcard /usr/include/simbody/Simbody.h),)
build/tests/bench/bench_trees: build/obj/tests/simbody/simbody_chain.o
build/tests/bench/bench_trees: LINK_TAIL += -lSimTKsimbody -lSimTKmath -lSimTKcommon
endif

# ---- tests ----

fuzz_count ?= 20000
fuzz_requests ?= 3000
fuzz_runs = $(foreach f,$(notdir $(fuzz_mains:%.c=%)),"tests/tools/fuzz.sh build/debug/tests/fuzz/$(f) tests/fuzz/corpus_$(f:fuzz_%=%) $(if $(findstring http,$(f)),$(fuzz_requests),$(fuzz_count))")\
  "tests/tools/fuzz.sh build/debug/tests/fuzz/fuzz_description api/examples $(fuzz_count)"

# Paths of the daemon and the command line that tests start.
export HAMEL  ?= $(CURDIR)/build/hamel
export HAMELD ?= $(CURDIR)/build/hameld

# Requests and responses of the HTTP tests, recorded so that check_openapi.py can compare them with api/openapi.json.
exchanges := $(CURDIR)/build/exchanges.ndjson
export HAMEL_TEST_EXCHANGES := $(exchanges)

# Tests that fill a disk, limit processor time or load the machine run one after the other.
alone_names := test_space test_adversaries
alone_tests := $(filter $(addprefix %/,$(alone_names)),$(call in_folders,$(release_tests),fault))
# Run the longest tests first, so that no processor is idle at the end.
long_names := test_nodes test_nodes_database test_streams test_holonomy test_redundant_turns test_written
parallel_tests := $(filter-out $(alone_tests),$(call in_folders,$(release_tests) $(debug_tests),unit) \
    $(call in_folders,$(release_tests),reference http fault))
parallel_tests := $(filter $(addprefix %/,$(long_names)),$(parallel_tests)) $(filter-out $(addprefix %/,$(long_names)),$(parallel_tests))
source_checks := tests/tools/check_sources.sh tests/tools/check_words.py

tests_build := all $(release_tests) $(call in_folders,$(debug_tests),unit) $(debug_fuzz)
tests_run = tests/run.sh $(source_checks) tests/tools/check_deploy.sh tests/tools/check_unit.py tests/tools/check_queue_model.sh \
    $(parallel_tests) tests/diagnostics/run.sh $(filter-out %/common.sh,$(wildcard tests/cli/*.sh)) tests/page/check_page.sh $(wildcard tests/page/test_*.mjs) $(fuzz_runs) \
    --alone $(alone_tests) tests/load/hostile.sh tests/load/mix.sh tests/http/check_openapi.py

test: build/.setup-test $(tests_build)
	@rm -f $(exchanges)
	@$(tests_run)

# Run before each commit: build, unit tests, diagnostics, lint of the files that differ from the upstream branch.
check: build/.setup-test build/.setup-lint all $(call in_folders,$(release_tests),unit)
	@tests/tools/lint.sh --changed
	@tests/run.sh $(filter $(addprefix %/,$(long_names)),$(call in_folders,$(release_tests),unit)) tests/diagnostics/run.sh \
	    $(filter-out $(addprefix %/,$(long_names)),$(call in_folders,$(release_tests),unit))

# Exclude test_negotiation: under valgrind its runs are so slow that they send unexpected progress events.
test-long: export HAMEL_TEST_LONG := 1
test-long: export HAMEL_TEST_LIMIT := 3600
test-long: fuzz_count := 1000000
test-long: fuzz_requests := 100000
test-long: build/.setup-test $(tests_build) debug $(tsan_tests)
	@rm -f $(exchanges)
	@$(tests_run) \
	    $(foreach t,$(call in_folders,$(debug_tests),http),"env HAMELD=$(CURDIR)/build/debug/hameld $(t)") \
	    $(foreach t,$(call in_folders,$(tsan_tests),http unit),"env HAMELD=$(CURDIR)/build/tsan/hameld $(t)") \
	    $(foreach t,$(filter-out %/test_negotiation,$(call in_folders,$(release_tests),http)),"env HAMELD=$(CURDIR)/tests/tools/valgrind/hameld $(t)") \
	    $(simbody_test) $(guided_runs) tests/load/soak.sh
test-long: build/.setup-load build/.setup-fuzz build/.setup-simbody $(fuzz_fuzz) $(simbody_test)
test-long: $(call in_folders,$(debug_tests),http) tsan

# Run each fuzz target for HAMEL_FUZZ_SECONDS, guided by code coverage.
guided_runs = $(foreach f,$(notdir $(fuzz_mains:%.c=%)),"tests/tools/fuzz_guided.sh build/fuzz/tests/fuzz/$(f) tests/fuzz/corpus_$(f:fuzz_%=%) $(if $(findstring description,$(f)),api/examples)")
fuzz: build/.setup-fuzz $(fuzz_fuzz)
	@HAMEL_TEST_LIMIT=$$(($${HAMEL_FUZZ_SECONDS:-900} + 300)) tests/run.sh $(guided_runs)
$(fuzz_fuzz): | build/.setup-fuzz

load: build/.setup-load all
	@tests/run.sh --alone tests/load/run.sh

# Report the coverage of the tests, measured by gcov.
coverage: build/.setup-test $(call in_folders,$(coverage_tests),unit reference http) build/coverage/hamel build/coverage/hameld
	@find build/coverage -name '*.gcda' -delete
	@HAMEL=$(CURDIR)/build/coverage/hamel HAMELD=$(CURDIR)/build/coverage/hameld tests/run.sh tests/diagnostics/run.sh \
	    tests/cli/run.sh $(call in_folders,$(coverage_tests),unit reference) --alone $(call in_folders,$(coverage_tests),http)
	@tests/tools/coverage.sh build/coverage/obj

bench: all $(release_bench)
	@for program in $(release_bench) tests/bench/bench_daemon.sh; do echo; echo "== $$program"; $$program || exit 1; done

# ---- style ----

all_sources = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')

lint: build/.setup-build build/.setup-test build/.setup-lint $(generated) $(statements)
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
