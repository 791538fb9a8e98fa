# For OpenBench, and for whoever wants nothing but the engine: `make EXE=name` builds the program for this machine's
# processor and leaves it as `name`; `make` alone leaves it as `zeitnot`. `make CPU=x86-64-v2` builds for others too.

EXE ?= zeitnot
CPU ?= native
TARGET_DIR ?= $(or $(CARGO_TARGET_DIR),target)
export RUSTFLAGS += -C target-cpu=$(CPU)

ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif

.PHONY: all
all:
	cargo build --release --locked --bin zeitnot --target-dir "$(TARGET_DIR)"
	cp "$(TARGET_DIR)/release/zeitnot$(SUFFIX)" "$(EXE:.exe=)$(SUFFIX)"
