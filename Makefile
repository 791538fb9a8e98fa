# Builds the engine alone, for OpenBench and GUIs: `make EXE=name` builds it for this machine's processor as `name`;
# `make` alone names it `zeitnot-engine`. `make CPU=x86-64-v2` builds for other machines too. `EVALFILE=FILE` builds in
# another net, `FEATURES=tuning` makes the constants of the search options.

EXE ?= zeitnot-engine
CPU ?= native
FEATURES ?=
TARGET_DIR ?= $(or $(CARGO_TARGET_DIR),target)
export RUSTFLAGS += -C target-cpu=$(CPU)
ifdef EVALFILE
export ZEITNOT_NET := $(abspath $(EVALFILE))
endif

ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif

.PHONY: all
all:
	cargo build --release --locked -p zeitnot-engine $(if $(FEATURES),--features "$(FEATURES)") --target-dir "$(TARGET_DIR)"
	cp "$(TARGET_DIR)/release/zeitnot-engine$(SUFFIX)" "$(EXE:.exe=)$(SUFFIX)"
ifdef EVALFILE
	# Fails if it is no net that the engine can use.
	"$(TARGET_DIR)/release/zeitnot-engine$(SUFFIX)" bench 1 1 "$(ZEITNOT_NET)" > /dev/null
endif
