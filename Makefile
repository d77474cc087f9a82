# `make run` and `make test` do all their own set-up. Variables: PYTHON, VENV, TORCH=cpu|cuda, and PORT
# of `make run`.
PYTHON ?= python3
VENV ?= .venv
# What is installed already, else the CPU build.
TORCH ?= $(if $(wildcard $(VENV)/ready-cuda),cuda,cpu)

# The version stands in constraints.txt. Ordinary Linux wheels carry several GB of CUDA libraries, so
# the CPU build (it has a local version label) is taken where pip finds it: in the sources it is
# configured with, or at TORCH_CPU_INDEX, for which pass the address of PyTorch's CPU wheels. Else the
# ordinary build, which runs on a CPU as well. `===` matches the build without a label.
TORCH_VERSION := $(shell sed -n 's/^torch==//p' constraints.txt)
TORCH_CPU_INDEX ?=
PIP := $(VENV)/bin/python -m pip
torch_cpu = $(PIP) install $(TORCH_CPU_INDEX:%=--extra-index-url=%) 'torch==$(TORCH_VERSION)+cpu' || $(PIP) install 'torch==$(TORCH_VERSION)'
torch_cuda = $(PIP) install 'torch===$(TORCH_VERSION)'
# Where there is no C compiler: the wheel that brings one, which setup.py then finds.
COMPILER := $(if $(shell command -v gcc || command -v clang || command -v cc),,ziglang)
WORKERS ?= 2
READY := $(VENV)/ready-$(TORCH)
# The modules that are run; the others are what these share.
BENCHMARKS := $(sort $(shell grep -l __main__ benchmarks/*.py benchmarks/*/*.py))
ifeq ($(torch_$(TORCH)),)
$(error TORCH is cpu or cuda, not '$(TORCH)')
endif

.PHONY: build run test smoke test-clients llama-cpp gpu-check sanitize lint types format bench docs clean

# The extension modules, in place, and the byte code, which pip writes for a package that it installs:
# that of files that changed. compileall doesn't go into folders that are links.
build: $(READY)
	@$(VENV)/bin/python setup.py --quiet build_ext --inplace
	@$(VENV)/bin/python -m compileall -q src/maskwright src/maskwright/kernels simulator/src

# PORT, or else the variable MASKWRIGHT_PORT, is tried before minutes go by for an installation.
run:
	@$(PYTHON) tools/try_port.py $(PORT)
	@$(MAKE) --no-print-directory build
	$(VENV)/bin/maskwright serve $(PORT:%=--port %)

# The files are shared out among WORKERS processes, in the order of tests/conftest.py: by numbers of
# tests, a file with one long test would come last, and the other processes would wait for it.
# PYTEST='-p randomly' has random order; the seed that it prints gives the order again:
# PYTEST='-p randomly --randomly-seed=…'.
test: build ; $(VENV)/bin/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder $(PYTEST)

# Installs the newest of everything under the newest Python that is found, and tries it there.
smoke: ; $(PYTHON) tools/newest_python.py

# CLIENTS names some of them; --list names all.
test-clients: build ; $(VENV)/bin/python tools/client_suites.py $(CLIENTS)

# Builds llama-cpp-python, which `make test` then tests against; without it, these tests are skipped.
llama-cpp: build ; $(VENV)/bin/python tools/build_llama_cpp.py

# With TORCH=cuda. The script exits with 77 on a machine without a GPU.
gpu-check: build ; $(VENV)/bin/python tools/gpu_check.py $(SAVE:%=--save)

# The tests of the extension modules in builds that check each access to memory; takes an hour.
sanitize: build ; $(VENV)/bin/python tools/sanitize.py

lint: $(READY) ; $(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .

types: build ; $(VENV)/bin/pyright --pythonpath $(VENV)/bin/python

format: $(READY) ; $(VENV)/bin/ruff check --fix . && $(VENV)/bin/ruff format .

# 77: a script's data isn't there.
bench: build ; for script in $(BENCHMARKS); do $(VENV)/bin/python $$script || [ $$? -eq 77 ] || exit 1; done

# The site of docs/ in site/; nothing in it is loaded from elsewhere.
docs: $(READY) ; NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

clean:
	rm -rf $(VENV) build dist site src/*.egg-info simulator/build simulator/src/*.egg-info .pytest_cache .ruff_cache .hypothesis .clients
	find src -name '*.so' -delete

$(READY): pyproject.toml simulator/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	rm -f $(VENV)/ready-*
	$(torch_$(TORCH))
	$(PIP) install --constraint constraints.txt cython setuptools $(COMPILER)
	$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[dev]' --editable simulator
	touch $@
