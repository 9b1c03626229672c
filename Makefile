BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help site serve shim test calibration bench clean constraints

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

site: ## install what is needed, read captures/ and write the pages
	@scripts/setup.sh site
	$(BIN)/akvsite ingest captures
	$(BIN)/akvsite build
	@echo "To read the pages: $(BIN)/mkdocs serve"

serve: site ## build, then serve the pages on this machine
	$(BIN)/mkdocs serve

shim: ## build the libraries that are preloaded and the probe, into shim/build/
	@scripts/setup.sh shim
	$(MAKE) -j 2 -C shim

test: ## install everything and run every check and every test
	@scripts/setup.sh test
	$(MAKE) -j 2 -C shim
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

calibration: ## how often the bands really hold: the whole grid, minutes; kept for the Method page
	@scripts/setup.sh test
	$(BIN)/python -m tests.calibration --write

bench: ## run the benchmarks
	@scripts/setup.sh site
	@for script in $(wildcard benchmarks/*.py); do echo "== $$script"; $(BIN)/python "$$script" || exit; done

constraints: ## resolve constraints.txt again
	scripts/constraints.sh

clean: ## remove what the other targets made, but not the environment (.venv)
	git -c core.excludesFile= clean -fdXq -e '!/.venv' -e '!/.venv/**'
