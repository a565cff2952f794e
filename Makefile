# spadkit: `make` runs the whole flow on a real kernel, `make test` all tests.

KERNEL ?= kernels/fwt/fwt.toml
OUT    ?= spadkit-out
CARGO  ?= cargo
# Cargo's folder for what it builds.
TARGET  := $(or $(CARGO_TARGET_DIR),target)
SPADKIT := $(TARGET)/debug/spadkit

# Debian packages of the external tools.
PACKAGES := verilator yosys opensta iverilog g++ make z3 qflow-tech-osu018
TOOLS    := verilator yosys sta iverilog c++ z3
OSU018   := /usr/share/qflow/tech/osu018/osu018_stdcells.lib

# The tool of `make docs`, in cargo's own folder for programs.
MDBOOK := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin/mdbook

.PHONY: flow build test test-rust test-python lint rustdoc msrv venv wheel install uninstall clean \
  deps deps-python deps-browser deps-cluster bench compare suites docs docs-waves \
  generated check-generated reproduction mutate campaign campaign-cosim campaign-bus \
  campaign-axi campaign-tilelink campaign-cluster fuzz sanitize deny public-api

flow: deps build
	$(SPADKIT) flow $(KERNEL) -o $(OUT)
	@echo "the program is $(SPADKIT); 'make install' puts it into $(PREFIX)/bin"

# The examples are built, too, because their dependencies have the features that
# the tests need. Without them, `make test` would build those dependencies, and
# everything that uses them, a second time.
build:
	$(CARGO) build --workspace --bins --examples

# Lint, the regenerated Verilog, and every test. Before the last of them, the
# documentation's, which need no tools, it says how many were skipped; it ends with
# the runner's summary.
# Cargo lets one build at a time into target/, so -j3 overlaps them with the virtual
# environment, the emission and pytest only.
test: deps deps-browser deps-python
	@$(MAKE) --no-print-directory -j3 -Otarget lint check-generated test-python
	$(all-tests)

# `test` without the Python package.
test-rust: deps deps-browser lint check-generated
	$(all-tests)

# Tests add a line to this file when they are skipped: tool, tabulator, test.
SKIPPED := $(abspath $(TARGET))/skipped-tests.tsv
define all-tests
@rm -f $(SKIPPED)
SPADKIT_SKIPPED=$(SKIPPED) $(CARGO) test --workspace --tests
@touch $(SKIPPED); sort -u $(SKIPPED) | cut -f 1 | uniq -c | \
  awk '{ n = $$1; $$1 = ""; print "skipped:" $$0 " is missing for " n " tests"; all += n } \
    END { print "skipped in all: " all + 0 " tests ($(SKIPPED))" }'
$(CARGO) test --workspace --doc
endef

# The Python package from the library as `make build` compiles it. NumPy, pytest,
# mypy, ruff and typos are in a virtual environment of their own.
PYTHON ?= python3
VENV   := $(TARGET)/venv
NATIVE := python/spadkit/_native.abi3.so
test-python: build venv
	$(CARGO) build --workspace --lib --bins --examples
	ln -f $(TARGET)/debug/lib_native.so $(NATIVE) || \
	  cp -f $(TARGET)/debug/lib_native.so $(NATIVE)
	$(VENV)/bin/ruff check -q --no-cache .
	$(VENV)/bin/typos
	cd python && SPADKIT=$(abspath $(SPADKIT)) $(abspath $(VENV))/bin/python -B -m pytest -q -p no:cacheprovider

venv: deps-python
	$(call venv,$(VENV),python/requirements.txt)

# The package to install: wheels/spadkit-*.whl in the target folder.
wheel: deps-python
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install -q --disable-pip-version-check "maturin>=1.9,<2"
	rm -f $(NATIVE)
	$(VENV)/bin/maturin build --release -m python/Cargo.toml

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

# Links and texts of the library's documentation.
rustdoc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --lib --examples

# A type-check with the oldest compiler that Cargo.toml promises, from rustup.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' Cargo.toml)
msrv:
	@rustup run $(MSRV) cargo --version >/dev/null 2>&1 || { \
	  echo "Rust $(MSRV) is missing: rustup toolchain install $(MSRV) --profile minimal"; exit 3; }
	CARGO_TARGET_DIR=$(TARGET)/msrv \
	  rustup run $(MSRV) cargo check --locked --workspace --all-targets

bench: deps
	$(CARGO) build --release
	$(CARGO) bench -p spadkit-benches

# Cells, flip-flops, levels and cycles beside the local memories of open cores.
# PULP=DIR measures PULP's network, too: DIR has the repositories
# cluster_interconnect and common_cells (a 1.x). VORTEX=DIR measures Vortex' local
# memory, too: DIR is a checkout of Vortex. SLANG names the Yosys that reads them.
compare: export PULP := $(PULP)
compare: export VORTEX := $(VORTEX)
compare: export SLANG := $(SLANG)
compare: export SPADKIT_TIMEOUT := $(or $(SPADKIT_TIMEOUT),3600)
compare: deps build
	$(dir $(SPADKIT))examples/compare_local_memories

# Verdicts on races beside the labels of public suites, whose checkouts you name:
# `make suites GPUVERIFY=dir BENCHMARKS=dir BARRACUDA=dir HECBENCH=dir SCOR=dir INDIGO=dir INDIGO3=dir
# ESBMC=dir FAIAL=dir SANITIZER=dir FIXED=dir`, or some of these.
SUITES := $(TARGET)/suites
suites: build
	$(PYTHON) -B benches/suites/suites.py --spadkit $(SPADKIT) --work $(SUITES) \
	  $(if $(GPUVERIFY),--gpuverify "$(GPUVERIFY)") $(if $(BENCHMARKS),--benchmarks "$(BENCHMARKS)") \
	  $(if $(BARRACUDA),--barracuda "$(BARRACUDA)") $(if $(HECBENCH),--hecbench "$(HECBENCH)") \
	  $(if $(SCOR),--scor "$(SCOR)") $(if $(INDIGO),--indigo "$(INDIGO)") \
	  $(if $(INDIGO3),--indigo3 "$(INDIGO3)") $(if $(ESBMC),--esbmc "$(ESBMC)") \
	  $(if $(FAIAL),--faial "$(FAIAL)") $(if $(SANITIZER),--sanitizer "$(SANITIZER)") \
	  $(if $(FIXED),--fixed "$(FIXED)") \
	  $(if $(LIMIT),--limit $(LIMIT)) --list $(SUITES)/verdicts.jsonl

# The program, its completions and its man pages, below PREFIX; DESTDIR is put in front
# of it, for packages.
PREFIX  ?= $(HOME)/.local
DESTDIR ?=
ROOT     = $(DESTDIR)$(shell realpath -m "$(PREFIX)")
install:
	@test -n "$(HOME)" || test "$(origin PREFIX)" != file || { \
	  echo "HOME is not set: name a folder, make install PREFIX=DIR"; exit 2; }
	$(CARGO) install --locked --path . --root "$(ROOT)"
	"$(ROOT)/bin/spadkit" completions --man "$(ROOT)/share/man/man1" > /dev/null
	mkdir -p "$(ROOT)/share/bash-completion/completions" "$(ROOT)/share/zsh/site-functions" \
	  "$(ROOT)/share/fish/vendor_completions.d"
	"$(ROOT)/bin/spadkit" completions bash > "$(ROOT)/share/bash-completion/completions/spadkit"
	"$(ROOT)/bin/spadkit" completions zsh > "$(ROOT)/share/zsh/site-functions/_spadkit"
	"$(ROOT)/bin/spadkit" completions fish > "$(ROOT)/share/fish/vendor_completions.d/spadkit.fish"
	@echo "installed below $(ROOT): bin/spadkit, completions of bash, zsh and fish, man pages"

uninstall:
	rm -f "$(ROOT)/bin/spadkit" "$(ROOT)"/share/man/man1/spadkit*.1 \
	  "$(ROOT)/share/bash-completion/completions/spadkit" \
	  "$(ROOT)/share/zsh/site-functions/_spadkit" \
	  "$(ROOT)/share/fish/vendor_completions.d/spadkit.fish"

# The pages of docs/ as a book, in target/book. Links are checked by
# `cargo test --workspace --test kit docs::`, which does not need mdbook.
docs:
	@if [ ! -x "$(MDBOOK)" ]; then \
	  echo "mdbook is missing, installing it: cargo install mdbook --locked"; \
	  $(CARGO) install mdbook --locked || { echo "could not install mdbook"; exit 3; }; fi
	"$(MDBOOK)" build

# The timing diagrams of the contract, drawn from the golden models, and the
# pictures of docs/guides/questions.md, drawn from the accesses of kernels.
docs-waves:
	UPDATE=1 $(CARGO) test --workspace --test kit -- waves:: questions::picture

# The emitted Verilog of the default preset, committed for reading: without the
# test benches, which are megabytes. Git keeps what --force replaces.
GENERATED := emit -q --bench-cycles 0
generated: build
	$(SPADKIT) $(GENERATED) --force -o generated >/dev/null

# The papers' results: docs/reproduction.md, the papers' pages, charts, points,
# and the table of README.md. Ranges are computed for the figures in HEADLINES:
# `make reproduction HEADLINES=` leaves them out, which is most of the time.
HEADLINES ?= elastic.f6 elastic.f7 sharing.f14 hash.f9
REPRODUCE ?= cargo run --release -q -- reproduce
FRESH     := $(TARGET)/reproduction
reproduction: build
	rm -rf $(FRESH)  # points that an older program measured
	$(if $(HEADLINES),$(REPRODUCE) -o $(FRESH) --sensitivity $(HEADLINES) > /dev/null)
	$(REPRODUCE) -o $(FRESH) > /dev/null
	rm -rf docs/reproduction docs/charts
	cp -r $(FRESH)/reproduction.md $(FRESH)/reproduction $(FRESH)/charts docs/
	awk -v table=$(FRESH)/README-results.md \
	  '/^<!-- results/ { while ((getline line < table) > 0) print line; skip = 1 } \
	   !skip { print } /^<!-- end of results/ { skip = 0 }' README.md > $(FRESH)/README.md
	cp $(FRESH)/README.md README.md

check-generated: build
	@scratch=$$(mktemp -d) && \
	$(SPADKIT) $(GENERATED) -o $$scratch/generated >/dev/null && \
	diff -r generated $$scratch/generated; status=$$?; rm -rf $$scratch; \
	if [ $$status -ne 0 ]; then echo "generated/ is not what the kit emits: run 'make generated'"; fi; \
	exit $$status

# 200 faults per unit: how many does the co-simulation catch?
mutate: deps build
	$(SPADKIT) mutate --config testbenches/mutate.toml
	$(SPADKIT) mutate spad_stream spad_tcdm --config testbenches/mutate-bus.toml
	$(SPADKIT) mutate spad_phases --config testbenches/bus/wide.toml

# Long co-simulation and proofs in every geometry. Random stimulus with
# back-pressure: all units on each preset with RTL, and longer on the small one; then
# the kernels on the SM path (docs/explanation/verification.md has the numbers).
PRESETS          := fermi gt200 small gpgpusim-16k sharing-48k sharing-64k
CAMPAIGN_CYCLES  ?= 20000
CAMPAIGN_LONG    ?= 200000
CAMPAIGN_KERNELS := transpose reduction fwt fft dct8x8 conv-rows nw scan bitonic matmul backprop \
                    lavamd hist256 stride atomic random
# Recorded traces to replay, too: make campaign CAMPAIGN_TRACES="a.json b.json".
CAMPAIGN_TRACES  ?=
COSIM := $(CARGO) run --release -q -- cosim
campaign: deps rustdoc campaign-cosim campaign-bus campaign-axi campaign-tilelink
	$(CARGO) run --release -q -- prove --all-geometries
	$(CARGO) test --workspace --release -- --ignored --skip a_million_accesses
	$(REPRODUCE) --check docs --recompute all

# Its co-simulation: more than 10 million cycles.
campaign-cosim:
	$(COSIM) --preset small --cycles $(CAMPAIGN_LONG) --seed 2
	for preset in $(PRESETS); do \
	  $(COSIM) --preset $$preset --cycles $(CAMPAIGN_CYCLES) || exit 1; done
	for preset in fermi gt200; do \
	  for input in $(CAMPAIGN_KERNELS:%=kernel:%) $(CAMPAIGN_TRACES); do \
	    echo "$$preset $$input"; \
	    $(COSIM) spad_sm_path --preset $$preset --trace $$input || exit 1; done; done

# The bus blocks: random accesses with masks, byte enables, back-pressure and atomic
# operations, more than a million each. In lockstep with the models first, then against
# the memories of tests/kit/wrappers, which share no code with model or RTL. The first
# numbers of cycles are those that a million accesses take.
BUS_CYCLES      ?= 5000000
BUS_LANE_CYCLES ?= 1000000
BUS_MACHINES    := lanes window atomics posted posted-window posted-atomics
campaign-bus: deps
	for machine in $(BUS_MACHINES); do \
	  $(COSIM) spad_stream --config testbenches/bus/$$machine.toml --cycles $(BUS_CYCLES) --seed 3 && \
	  $(COSIM) spad_tcdm --config testbenches/bus/$$machine.toml --cycles $(BUS_LANE_CYCLES) --seed 3 \
	    || exit 1; done
	$(COSIM) spad_atomic_bank --config testbenches/bus/lanes.toml --cycles $(BUS_CYCLES) --seed 3
	$(COSIM) spad_phases spad_wide_stream --config testbenches/bus/wide.toml --cycles $(BUS_CYCLES) --seed 3
	$(CARGO) test --workspace --test kit -- --ignored a_million_accesses

# Bursts of a master of cocotbext-axi at the AXI port, in Icarus, each seed on its
# own; before them the port in lockstep. cocotb is in a virtual environment.
AXI_VENV  := $(TARGET)/venv-axi
AXI_SEEDS ?= 1 2 3 4
campaign-axi: deps deps-python build
	$(call venv,$(AXI_VENV),testbenches/axi/requirements.txt)
	$(SPADKIT) cosim spad_axi --config testbenches/axi/machine.toml --cycles $(CAMPAIGN_LONG)
	for lanes in 1 2 4; do for seed in $(AXI_SEEDS); do \
	  $(AXI_VENV)/bin/python -B testbenches/axi/run.py --spadkit $(SPADKIT) \
	    --work $(TARGET)/axi --rounds 200 --seed $$seed --lanes $$lanes \
	    || exit 1; done; done

# The agents and the monitor of cocotb-TileLink at two devices, in Icarus. It needs an
# older cocotb than cocotbext-axi, so an environment of its own.
TILELINK_VENV := $(TARGET)/venv-tilelink
campaign-tilelink: deps deps-python build
	$(call venv,$(TILELINK_VENV),testbenches/tilelink/requirements.txt)
	for seed in $(AXI_SEEDS); do \
	  $(TILELINK_VENV)/bin/python -B testbenches/tilelink/run.py --spadkit $(SPADKIT) \
	    --work $(TARGET)/tilelink --rounds 600 --seed $$seed || exit 1; done

# A sweep in shards, by GNU parallel and as a job array of Slurm on this machine:
# the same points and table as in one run (docs/guides/campaigns.md).
campaign-cluster: deps-cluster build
	examples/cluster/check.sh $(SPADKIT)

# Fuzzes the parsers of all inputs, a minute each, from the seeds in fuzz/seeds.
# Needs cargo-fuzz (`cargo install cargo-fuzz --locked`); RUSTC_BOOTSTRAP lets the stable
# compiler instrument the code. What it finds is in fuzz/artifacts.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
# The executor has unsafe code, so its target runs under AddressSanitizer; it starts
# from the PTX of the file tests, which has every group of instructions.
fuzz:
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { \
	  echo "cargo-fuzz is missing: cargo install cargo-fuzz --locked"; exit 3; }
	mkdir -p fuzz/corpus/execute
	PTX_OUT=$(CURDIR)/fuzz/corpus/execute $(CARGO) test -q --workspace --test filetests
	for target in $(FUZZ_TARGETS); do \
	  sanitizer=none; seeds=$$target; \
	  [ $$target != execute ] || { sanitizer=address; seeds=ptx; }; \
	  mkdir -p fuzz/corpus/$$target && \
	  RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --sanitizer $$sanitizer $$target \
	    fuzz/corpus/$$target fuzz/seeds/$$seeds -- -max_total_time=$(FUZZ_SECONDS) -timeout=20 \
	    $$(test ! -e fuzz/dictionaries/$$seeds.dict || echo -dict=fuzz/dictionaries/$$seeds.dict) \
	    || exit 1; done

# The executor's unit tests, which reach its unsafe code, under AddressSanitizer. Miri
# would check more; it is in no package registry.
SANITIZED := $(TARGET)/sanitized
sanitize:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=$(SANITIZED) \
	  $(CARGO) test -p spadkit-ptx --lib --target $$(rustc -vV | sed -n 's/^host: //p')

# Licences, sources and doubles of the dependencies, then known vulnerabilities: that
# list is fetched from the network.
deny:
	@$(CARGO) deny --version >/dev/null 2>&1 || { \
	  echo "cargo-deny is missing: cargo install cargo-deny --locked"; exit 3; }
	$(CARGO) deny check bans licenses sources
	$(CARGO) deny check advisories

# What changed in the public interface of the libraries since BASE: a line per item.
# The tool reads rustdoc's JSON, which a stable compiler writes only if it is told to.
BASE       ?= HEAD~1
LIBRARIES  := spadkit-base spadkit-names spadkit-mapping spadkit-ptx spadkit-hdl spadkit-rtl spadkit-sm \
  spadkit-launch spadkit-compiler spadkit-report \
  spadkit-papers spadkit
PUBLIC_API := RUSTC_BOOTSTRAP=1 $(CARGO) public-api -sss --color never
public-api:
	@$(CARGO) public-api --version >/dev/null 2>&1 || { \
	  echo "cargo-public-api is missing: cargo install cargo-public-api --locked"; exit 3; }
	@scratch=$$(mktemp -d); git worktree add -q --detach $$scratch/base $(BASE) || exit 1; \
	status=0; for library in $(LIBRARIES); do \
	  $(PUBLIC_API) -p $$library > $$scratch/new.txt 2>$$scratch/log && \
	  (cd $$scratch/base && CARGO_TARGET_DIR=$$scratch/target \
	    $(PUBLIC_API) -p $$library) > $$scratch/old.txt 2>>$$scratch/log || \
	    { cat $$scratch/log; status=1; break; }; \
	  echo "$$library: $$(wc -l < $$scratch/new.txt) items"; \
	  diff $$scratch/old.txt $$scratch/new.txt | grep '^[<>]'; done; \
	git worktree remove --force $$scratch/base; rm -rf $$scratch; exit $$status

# A virtual environment with what a file lists, made anew when that changes:
# $(call venv,FOLDER,REQUIREMENTS).
define venv
test -e $(1)/done -a $(1)/done -nt $(2) || { \
  $(PYTHON) -m venv $(1) && \
  $(1)/bin/pip install -q --disable-pip-version-check -r $(2) && \
  touch $(1)/done; }
endef

# A comma in an argument of a call.
comma := ,

# Installs packages of Debian, and says so: $(call apt,PACKAGES,WITHOUT-APT,FAILED).
# Goes on from a command that has said what is missing.
define apt
if ! command -v apt-get >/dev/null; then echo "$(2)"; exit 3; fi; \
sudo=""; if [ "$$(id -u)" -ne 0 ]; then sudo=sudo; fi; \
echo "installing with apt-get: $(1)"; \
$$sudo apt-get update -qq && \
DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $(1) >/dev/null || \
  { echo "could not install $(1)$(3)"; exit 3; }
endef

# The external tools.
deps:
	@missing=""; for tool in $(TOOLS); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	test -e $(OSU018) || missing="$$missing osu018"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	echo "missing:$$missing"; \
	$(call apt,$(PACKAGES),install these (Debian's names): $(PACKAGES))

# Python with venv, for the tests of the Python package. `make`, `make build` and
# `make test-rust` do without.
deps-python:
	@if $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then exit 0; fi; \
	echo "missing: python3 with venv"; \
	$(call apt,python3-venv,install Python 3.9 or later with venv (Debian: python3-venv)$(comma) or use 'make test-rust',; 'make test-rust' does without)

# A browser, for the tests of the pages. `make` and `make build` do without.
deps-browser:
	@for browser in chromium chromium-browser google-chrome chrome; do \
	  command -v $$browser >/dev/null && exit 0; done; \
	echo "missing: a browser"; \
	command -v apt-get >/dev/null || { \
	  echo "install Chromium (Debian: chromium): without it the tests of the pages are skipped"; exit 0; }; \
	$(call apt,chromium fonts-dejavu-core,,: the tests of the pages need it)

# GNU parallel and Slurm, for `make campaign-cluster`.
deps-cluster:
	@if command -v parallel >/dev/null && command -v sbatch >/dev/null; then exit 0; fi; \
	echo "missing: GNU parallel or Slurm"; \
	$(call apt,parallel slurm-wlm,install GNU parallel and Slurm (Debian: parallel slurm-wlm))

clean:
	$(CARGO) clean
	rm -rf $(OUT)
