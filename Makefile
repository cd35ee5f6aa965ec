# Entry points; the work is in scripts/.

PROFILE ?= dev
export PROFILE

.DEFAULT_GOAL := help
.PHONY: help setup sample run test fmt clippy features shell ui rust browser api clients mcp deploy supply files kills torture bench eval lm clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## set up, build, start the service, ingest the sample clip, ask it a question
	@scripts/run.sh

test: ## all checks that must pass before a change is merged
	@scripts/check.sh

setup: ## system packages, Python environment, models, test tools
	@scripts/setup.sh test

sample: setup ## make the sample clip, var/sample/shotlog-sample.mp4
	@examples/make_sample.sh

fmt: ## check formatting
	@scripts/check.sh fmt

clippy: ## compile everything with lints
	@scripts/check.sh clippy

features: ## compile the adapters with parts of their features
	@scripts/check.sh features

shell: ## lint the scripts
	@scripts/check.sh shell

ui: ## formatting, types and unit tests of the web UI
	@scripts/check.sh ui

rust: ## the Rust tests
	@scripts/check.sh rust

browser: ## the web UI in a real browser
	@scripts/check.sh browser

api: ## the OpenAPI document, and a live service against it
	@scripts/check.sh api

clients: ## the Python and TypeScript clients, against a live service
	@scripts/check.sh clients

mcp: ## the Model Context Protocol, with the official client and conformance tests
	@scripts/check.sh mcp

deploy: ## deployment files and metrics
	@scripts/check.sh deploy

supply: ## licences, sources and known vulnerabilities of dependencies
	@scripts/check.sh supply

files: ## hostile files
	@scripts/check.sh files

kills: ## the service killed at random moments
	@scripts/check.sh kills

torture: ## long robustness tests: TORTURE_FILES=10000 TORTURE_KILLS=1000
	@scripts/torture.sh

bench: ## performance figures with their bars
	@scripts/bench.sh

eval: ## accuracy of cuts, speakers, words, objects, text and search: SHOTLOG_MEDIA=…
	@scripts/eval.sh

lm: ## a real language model server, including its failures
	@scripts/lm.sh

clean: ## remove build outputs; keep models and ingested videos
	cargo clean
	rm -rf var/sample var/log var/cache var/lm var/browser-tests var/venv tests/browser/node_modules tests/mcp/node_modules clients/typescript/node_modules clients/typescript/dist ui/node_modules ui/dist
