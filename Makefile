# The commands that people type. Everything is built by Meson in build/.
BUILD ?= build

# Tests look at their own source by the debug information, so an object that ccache kept from a copy
# of the tree elsewhere must not be taken, whatever its configuration says.
export CCACHE_HASHDIR = 1

.PHONY: all run test test-pmu bench screenshots lint format asan fuzz soak fresh install deps clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/deps build
	@meson setup $(BUILD) --prefix=/usr/local

# Installs missing Debian packages, or says which ones are missing.
deps:
	@tools/deps build test

run: all
	@tools/demo $(BUILD)/tacho

# Every test; all failures are told at the end. Speed, style and sanitizers have targets of their own.
test: deps
	@tools/test

test-pmu:
	@tests/pmu/run

screenshots: all
	@tools/screenshots $(BUILD)/tacho

bench: all
	@tools/deps bench
	@bench/run $(BUILD)/tacho

# Formatting, layers, shell scripts, static analysis, types of the page, and a build by clang.
lint: all
	@tools/deps build test lint
	@tools/lint

format:
	@find src tests bench -name '*.[ch]' -print0 | xargs -0 clang-format -i
	@cd web && node_modules/.bin/prettier --config .prettierrc.json --log-level warn --write . ../tests/browser ../bench/page

# All unit tests once more, with the sanitizers watching.
asan: deps
	@tools/sanitize

# FUZZ_SECONDS for each target; findings land in fuzz-out/.
FUZZ_SECONDS ?= 180
fuzz:
	@tools/deps build test fuzz
	@tools/fuzz $(FUZZ_SECONDS)

# Fuzzing, attacks, kills, lost power, interleavings and a long live run, for SOAK_SECONDS in all. SOAK_SEED
# repeats a soak.
SOAK_SECONDS ?= 3600
soak: all
	@tools/deps build test fuzz
	@tools/soak $(SOAK_SECONDS) $(SOAK_SEED)

# `make run` and `make test` in a new Debian 12; needs root. See tools/fresh --help.
fresh:
	@tools/fresh

install: all
	@meson install -C $(BUILD)

clean:
	@rm -rf build build-asan build-clang build-fuzz build-arm64
