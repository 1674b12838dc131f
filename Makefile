# The front door.  Works with GNU Make 3.81; needs Python 3.11 to 3.13, make and git, nothing
# else.  `make book` and `make test` install the whole lock file into .venv first, once.

.PHONY: help setup data book print pyodide test nightly serve lint clean distclean
.NOTPARALLEL:

PYTHON ?=
PORT ?= 8000
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed

# A foreign module path or pip target would end up in what is built.
unexport PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX PIP_USER
# Without bytecode on disk each of a hundred processes would compile the libraries anew (10 s each).
unexport PYTHONDONTWRITEBYTECODE

# What is installed, and where: compared by content, so the file times of a clone do not matter,
# and a folder that was moved, or a model that was removed, is noticed.
fingerprint := import hashlib, os, platformdirs; \
  parts = [open(name, "rb").read() for name in ("requirements.lock", "pyproject.toml")]; \
  model = platformdirs.user_cache_path("tstmeta", appauthor=False) / "models" / "smollm2-135m"; \
  print(hashlib.sha256(b"\0".join([os.getcwd().encode()] + parts)).hexdigest(), model.is_dir())

help: ## Show this list
	@echo "Which automatic metrics of text style transfer can be trusted?"
	@echo
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo
	@echo "  PYTHON=/path/to/python3      the Python that makes .venv"
	@echo "  TSTMETA_DATA=/path/to/data   where raw data sets are looked up first"

setup: ## Install everything into .venv (once; the network is needed here only)
	@want=`"$(PY)" -c '$(fingerprint)' 2>/dev/null`; \
	if [ -n "$$want" ] && [ "$$want" = "`cat "$(STAMP)" 2>/dev/null`" ]; then exit 0; fi; \
	$(MAKE) --no-print-directory install

# Not for direct use: everything that `setup` does when something is missing or has changed.
# The environment is made complete or made anew; an installation that was cut off finds in uv's cache
# what it had fetched.  uv goes to the places that pip is told of.
.PHONY: install
install:
	@rm -f "$(STAMP)"; \
	chosen=; tried=; bare=; \
	for python in "$(PYTHON)" python3.11 python3.12 python3.13 python3 python; do \
	  [ -n "$$python" ] || continue; \
	  tried="$$tried $$python (`"$$python" -V 2>&1 | head -n 1`),"; \
	  if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then \
	    if "$$python" -c 'import venv, ensurepip' 2>/dev/null; then chosen=$$python; break; fi; \
	    bare=$${bare:-$$python}; \
	  fi; \
	  [ "$$python" != "$(PYTHON)" ] || break; \
	done; \
	if [ -z "$$chosen$$bare" ]; then \
	  echo "Python 3.11, 3.12 or 3.13 is needed. Tried:$${tried%,}." >&2; \
	  echo "  Debian 12 and 13, Ubuntu 24.04: apt-get install python3 python3-venv" >&2; \
	  echo "  macOS:                          brew install python@3.13" >&2; \
	  echo "  or name one:                    make PYTHON=/path/to/python3 setup" >&2; \
	  exit 1; \
	fi; \
	if [ -z "$$chosen" ]; then \
	  has=`"$$bare" -c 'import sys; print("%d.%d" % sys.version_info[:2])'`; \
	  echo "$$bare cannot make virtual environments: its module ensurepip or venv is missing." >&2; \
	  echo "  Debian, Ubuntu: apt-get install python$$has-venv" >&2; \
	  echo "  macOS:          brew reinstall python@$$has" >&2; \
	  exit 1; \
	fi; \
	echo "Installing requirements.lock into $(VENV) with $$chosen"; \
	[ "`uname -s`" != Linux ] || echo "6 GB with CUDA, 2.4 GB without: README.md, Installation"; \
	"$$chosen" -m venv --clear "$(VENV)" && \
	"$(PY)" -m pip install --disable-pip-version-check --quiet `grep '^uv==' requirements.lock` || exit 1; \
	told() { for from in :env: global; do "$(PY)" -m pip config get "$$from.$$1" 2>/dev/null && break; done; }; \
	export UV_FIND_LINKS="$${UV_FIND_LINKS:-`told find-links | tr ' ' ','`}"; \
	export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-`told index-url`}"; \
	export UV_INDEX="$${UV_INDEX:-`told extra-index-url`}"; \
	export UV_INDEX_STRATEGY="$${UV_INDEX_STRATEGY:-unsafe-best-match}"; \
	[ -z "$$PIP_NO_CACHE_DIR" ] || export UV_NO_CACHE=1; \
	[ -n "$$UV_TORCH_BACKEND" ] || unset UV_TORCH_BACKEND; \
	"$(PY)" -m uv pip install --python "$(PY)" -r requirements.lock -e . && \
	"$(PY)" -m uv pip check --quiet --python "$(PY)" && \
	"$(PY)" -m tstmeta models fetch smollm2-135m && \
	"$(PY)" -c '$(fingerprint)' > "$(STAMP).part" && mv "$(STAMP).part" "$(STAMP)"

data: setup ## Fetch the raw files of all public data sets (go on after an interruption: the same again)
	@"$(PY)" -m tstmeta data fetch --all

book: setup ## Build the book into book/_build/html: from raw files where they are, else from data/ratings
	@"$(PY)" dodo.py

print: book ## Print the lessons and their slides to PDF, into book/_build/print (needs Chromium)
	@"$(PY)" -m tools.print

pyodide: setup ## Make lesson 4's code run in the reader's browser (once; needs npm; then make book)
	@"$(PY)" -m tools.book pyodide

test: setup ## Build the book of a machine without raw files, check style and types, run all tests
	@"$(PY)" -m ruff check .
	@"$(PY)" -m ruff format --check .
	@env -u TSTMETA_DATA "$(PY)" dodo.py book types
	@"$(PY)" -m pytest -n 3 --dist loadfile --no-loadscope-reorder --durations 15

nightly: book ## All tests, also long ones: simulations, and every number that is passed on computed again
	@"$(PY)" -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "nightly or not nightly" --junitxml .build/nightly.xml

lint: setup ## Put the code into the project's style and check its types
	@"$(PY)" -m ruff check --fix .
	@"$(PY)" -m ruff format .
	@"$(PY)" -m mypy

serve: book ## Open the book in a browser (PORT=8000)
	@(sleep 1; "$(PY)" -m webbrowser -t http://127.0.0.1:$(PORT)/) &
	@"$(PY)" -m http.server $(PORT) --bind 127.0.0.1 --directory book/_build/html

clean: ## Remove what was built; installed packages, data and scores stay
	rm -rf book/_build book/_generated book/results book/_static/vendor .build

distclean: clean ## Remove computed scores, caches and .venv too; data/external stays
	rm -rf data/scores .venv .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find src tests tools benchmarks experiments -name __pycache__ -type d -prune -exec rm -rf {} +
