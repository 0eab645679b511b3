# The commands that people type. Everything is built by Meson in build/.
BUILD ?= build

# Tests look at their own source by the debug information, so an object that ccache kept from a copy
# of the tree elsewhere must not be taken, whatever its configuration says.
export CCACHE_HASHDIR = 1

.PHONY: all run test test-pmu bench screenshots lint format asan fuzz install deps clean

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

test: deps
	@tools/test

test-pmu:
	@tests/pmu/run

screenshots: all
	@tools/screenshots $(BUILD)/tacho

bench: all
	@tools/deps bench
	@bench/run $(BUILD)/tacho

lint: deps
	@tools/lint

format:
	@find src tests bench -name '*.[ch]' -print0 | xargs -0 clang-format -i
	@cd web && node_modules/.bin/prettier --config .prettierrc.json --log-level warn --write . ../tests/browser

# All unit tests once more, with the sanitizers watching.
asan: deps
	@tools/sanitize

# FUZZ_SECONDS for each target; findings land in fuzz-out/.
FUZZ_SECONDS ?= 180
fuzz: deps
	@tools/fuzz $(FUZZ_SECONDS)

install: all
	@meson install -C $(BUILD)

clean:
	@rm -rf build build-asan build-clang build-fuzz build-arm64
