# Entry points. The work is in scripts/; each target here is one line.

PROFILE ?= dev
export PROFILE

.DEFAULT_GOAL := help
.PHONY: help setup sample run test fmt clippy features shell ui rust browser api clients mcp deploy supply files kills torture bench eval lm clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## set up, build, start the service, ingest the sample clip, ask it a question
	@scripts/run.sh

test: ## everything below: what has to pass before a change is merged
	@scripts/check.sh

setup: ## system packages, Python environment, models, test programs
	@scripts/setup.sh test

sample: setup ## the sample clip, var/sample/shotlog-sample.mp4
	@examples/make_sample.sh

fmt: ## formatting alone
	@scripts/check.sh fmt

clippy: ## compile all that is tested, with lints
	@scripts/check.sh clippy

features: ## the adapters with parts of their features alone
	@scripts/check.sh features

shell: ## the scripts' lints alone
	@scripts/check.sh shell

ui: ## the web UI's formatting and types alone
	@scripts/check.sh ui

rust: ## the Rust tests alone
	@scripts/check.sh rust

browser: ## the web page in a real browser
	@scripts/check.sh browser

api: ## the OpenAPI document, and a live service against it
	@scripts/check.sh api

clients: ## the Python and TypeScript clients, against a live service
	@scripts/check.sh clients

mcp: ## agents over the Model Context Protocol, with the official client and its conformance tests
	@scripts/check.sh mcp

deploy: ## deployment files and metrics alone
	@scripts/check.sh deploy

supply: ## licences, sources and known vulnerabilities of what is built in
	@scripts/check.sh supply

files: ## hostile files alone
	@scripts/check.sh files

kills: ## the service killed at random moments, and what is left
	@scripts/check.sh kills

torture: ## the long forms of what nothing may break: TORTURE_FILES=10000 TORTURE_KILLS=1000
	@scripts/torture.sh

bench: ## the figures the README quotes
	@scripts/bench.sh

eval: ## how well cuts, voices, words, objects, text and moments are found: SHOTLOG_MEDIA=…
	@scripts/eval.sh

lm: ## what happens with a real language model's server, also when it fails
	@scripts/lm.sh

clean: ## remove what was built; models and ingested videos stay
	cargo clean
	rm -rf var/sample var/log var/cache var/lm var/browser-tests var/venv tests/browser/node_modules tests/mcp/node_modules clients/typescript/node_modules clients/typescript/dist ui/node_modules ui/dist
