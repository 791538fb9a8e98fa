# Builds the engine alone, for OpenBench and GUIs: `make EXE=name` builds it for this machine's processor as `name`;
# `make` alone names it `zeitnot-engine`. `make CPU=x86-64-v2` builds for other machines too.

EXE ?= zeitnot-engine
CPU ?= native
TARGET_DIR ?= $(or $(CARGO_TARGET_DIR),target)
export RUSTFLAGS += -C target-cpu=$(CPU)

ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif

.PHONY: all
all:
	cargo build --release --locked -p zeitnot-engine --target-dir "$(TARGET_DIR)"
	cp "$(TARGET_DIR)/release/zeitnot-engine$(SUFFIX)" "$(EXE:.exe=)$(SUFFIX)"
