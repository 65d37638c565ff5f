# `make` lists the targets. A recipe calls the same tool that a person would call by hand.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Also where it is given, but empty.
override PROFILE := $(or $(PROFILE),quick)
EXPERIMENT ?= $(if $(filter smoke,$(PROFILE)),smoke,thesis)
CELLS ?=
RUN ?= latest
# The database of `make serve`: `none`, a folder with PostgreSQL's programs, or a database's URL. Empty: the programs of the package.
DATABASE ?=
DATABASE_OPTION = $(if $(DATABASE),$(or $(if $(filter none,$(DATABASE)), --no-database),$(if $(filter /%,$(DATABASE)), --postgres-bin $(DATABASE)),$(if \
	$(findstring ://,$(DATABASE)), --database-url '$(DATABASE)'),$(error DATABASE=$(DATABASE): give none, an absolute path of a folder, or a URL)))
PYTHON ?= python3

ifdef PRECISION
$(error PRECISION no longer exists: a run continues until its claims are decided or its time is up, make bench MINUTES=60)
endif

BIN := .venv/bin
# The file that marks a part as installed lies inside that part, so it disappears together with it.
VENV := .venv/installed
DEV := .venv/installed-dev
FRAMEWORKS := .venv/installed-frameworks
AUDIT := .cache/audit/installed
JMETER := jmeter-plans/target/installed
JAR := java-service/target/restbench-java.jar
CLIENT := java-service/client/target/restbench-calls.jar
BENCHMARKS := java-service/target/benchmark-libraries.txt
LOCKS := python-service/requirements.txt scripts/requirements.txt
FRAMEWORKS_LOCK := python-service/requirements-frameworks.txt
# A framework other than flask has a lock file of its own and is installed first.
CHOSEN_FRAMEWORK := $(if $(filter-out flask,$(PYTHON_FRAMEWORK)),$(FRAMEWORKS))
DEV_LOCK := scripts/requirements-dev.txt
# The JDK that builds is the JDK that the services run on. It is chosen as in scripts/restbench/machine/jvm.py: JAVA_HOME, else
# the newest one installed. From JDK 21 on the jar also contains the framework helidon.
JDK := $(or $(JAVA_HOME),$(shell for home in /usr/lib/jvm/* /usr/java/* /opt/* /opt/java/* ~/.sdkman/candidates/java/*; do \
	test ! -x $$home/bin/javac || sed -n "s|^JAVA_VERSION=\"\([0-9.]*\).*|\1 $$home|p" $$home/release; done 2>/dev/null \
	| sort -V | tail -n 1 | cut -d ' ' -f 2-))
WITH_JDK := $(if $(JDK),env JAVA_HOME=$(JDK))
MVN := $(WITH_JDK) mvn -q -B -Dstyle.color=never
LOW_PRIORITY := nice -n 10

# $(call PYTEST,folder,python,arguments): failed tests (exit code 1) are run once more, alone. On a shared machine a few of
# thousands of tests may get too little CPU time, which says nothing about the code. A test that fails twice does.
# The plugin of schemathesis is off, as loading it takes a second per start; tests call schemathesis as a program.
PYTEST = cd $(1) && { $(2) -m pytest -p no:schemathesis $(3) || { code=$$?; [ $$code -eq 1 ] || exit $$code; \
	printf '\n== running the failed tests again: a test that passes now is flaky, which is a defect of the test ==\n'; \
	$(2) -m pytest -p no:schemathesis $(3) --last-failed --last-failed-no-failures none; }; }

.PHONY: help setup services bench chaos bench-limit bench-mg bench-growth queue-controls microbench plan calibrate report browse serve stop secrets frameworks test test-java test-python test-waiting test-scripts test-beside test-overload test-robustness lint format lock audit fuzz overload client-soak jmeter-gui clean
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14
	@printf '\nVariables: PROFILE=smoke|quick, for most experiments also reference, for some full (an unknown one: the error lists them)  EXPERIMENT=thesis|adaptive|frameworks|workers|instances|engines|factorial|logs|open-load|npb|calls|messages|messages-threads|messages-factorial|messages-fraction|messages-trace|messages-faults  CELLS="service=java strategy=pinned"\n           RUN=latest  MINUTES=60  N=50  SEED=1  JAVA_PORT  PYTHON_PORT\n           FRONT=nginx|haproxy|apache  JAVA_FRAMEWORK=tomcat|servlet|jetty|reactor-netty|vertx|helidon\n           PYTHON_FRAMEWORK=flask|flask-granian|fastapi|fastapi-gunicorn|aiohttp|rsgi\n           DATABASE=none|/usr/lib/postgresql/15/bin|postgresql://OWNER@HOST:5432/DATABASE\n'

# `restbench ab` of later commits calls this target in a checkout of this commit (scripts/restbench/deploy/builds.py).
services: $(VENV) $(JAR) $(if $(PYTHON_FRAMEWORK),$(FRAMEWORKS)) ## only what the services need to start (part of setup)

setup: $(VENV) $(JAR) $(CLIENT) $(JMETER) sysstat ## install what is missing (virtual environment, Java build, JMeter, sysstat)

bench: setup $(if $(filter frameworks workers,$(EXPERIMENT)),$(FRAMEWORKS)) $(if $(filter frameworks,$(EXPERIMENT)),wrk) $(if $(filter instances,$(EXPERIMENT))$(filter wide,$(PROFILE)),nginx) ## run the test matrix and print the study's tables (PROFILE, EXPERIMENT, CELLS, MINUTES; RESUME=1 continues an interrupted run)
	@$(BIN)/restbench run $(EXPERIMENT) --profile $(PROFILE) --cells "$(CELLS)"$(if $(MINUTES), --minutes $(MINUTES))$(if $(filter-out 0 no false,$(RESUME)), --resume)

calibrate: setup wrk ## check the measuring chain against known values, about 6 minutes
	@$(BIN)/restbench calibrate

plan: $(VENV) ## print the cells, their groups and the time, without starting anything (PROFILE, EXPERIMENT, CELLS, MINUTES)
	@$(BIN)/restbench plan $(EXPERIMENT) --profile $(PROFILE) --cells "$(CELLS)"$(if $(MINUTES), --minutes $(MINUTES))

report: $(VENV) ## regenerate a run's tables, figures and page from its raw data (RUN=latest)
	@$(BIN)/restbench report $(RUN)

browse: $(VENV) ## write results/index.html: one page of all runs, with filters, trends over time and comparisons
	@$(BIN)/restbench browse

serve: $(VENV) $(JAR) $(filter nginx haproxy apache,$(FRONT)) $(CHOSEN_FRAMEWORK) ## start both services and a database on 127.0.0.1 and print curl lines (FRONT=nginx, DATABASE, JAVA_FRAMEWORK, PYTHON_FRAMEWORK, JAVA_PORT, PYTHON_PORT)
	@$(BIN)/restbench serve$(if $(FRONT), --front $(FRONT))$(DATABASE_OPTION)

secrets: ## create the password files of `docker compose --profile messages`, once
	@mkdir -p -m 700 .cache/secrets; umask 222; for role in owner service monitor; do file=.cache/secrets/$$role.password; \
	  test -s $$file || { rm -f $$file.new; od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > $$file.new; mv -f $$file.new $$file; }; done

frameworks: $(FRAMEWORKS) ## install the other Python web frameworks in addition to flask, for PYTHON_FRAMEWORK

stop: ## end the services and the database that `make serve` started
	@test -x $(BIN)/restbench || { echo "$(BIN)/restbench is missing: make setup"; exit 3; }
	@$(BIN)/restbench stop

test: setup $(DEV) $(FRAMEWORKS) $(AUDIT) $(BENCHMARKS) chromium wrk nginx haproxy apache compiler ## run all tests of all parts
	@$(MAKE) --no-print-directory --keep-going --jobs=3 --output-sync=target $(TESTS) 2>&1 | tee .cache/tests.log \
	  || { printf '\n== what failed, also once (all output: .cache/tests.log) ==\n'; grep -aE '^(FAILED|ERROR) |^\[ERROR\] |\*\*\*' .cache/tests.log | cut -c 1-300; exit 2; }

# Three targets run at the same time, the longest first, and make prints the output of each when it ends. The tests of the Python
# service mostly wait for deadlines, and whole runs of the harness wait for measuring windows, so tests that only compute run at
# a lower priority.
TESTS := test-waiting test-robustness test-scripts test-overload test-beside lint test-java test-python
# Maven gets no goal that packages: it would replace the jars while services of other tests run from them.
test-java: tools-java
	$(LOW_PRIORITY) $(MVN) -f java-service/pom.xml test spotless:check
	$(LOW_PRIORITY) $(MVN) -f java-service/client/pom.xml test spotless:check
test-python: $(DEV) $(FRAMEWORKS)
	$(call PYTEST,python-service,../$(BIN)/python)
test-waiting:
	$(call PYTEST,scripts,../$(BIN)/python,-m live -n 2 --dist loadfile -o cache_dir=.pytest_cache_live)
test-scripts:
	$(call PYTEST,scripts,$(LOW_PRIORITY) ../$(BIN)/python,-m "not live" -n 2 --dist loadfile -o cache_dir=.pytest_cache_beside)
test-beside:
	$(call PYTEST,.,$(LOW_PRIORITY) $(BIN)/python,-q contract/tests)
	$(call PYTEST,.,$(LOW_PRIORITY) $(BIN)/python,-q jmeter-plans/tests)
	$(call PYTEST,audit,$(LOW_PRIORITY) $(WITH_JDK) ../.cache/audit/bin/python)
test-overload:
	$(call PYTEST,robustness,../$(BIN)/python,tests/test_overload_live.py -o cache_dir=.pytest_cache_overload)
test-robustness:
	$(call PYTEST,robustness,$(LOW_PRIORITY) ../$(BIN)/python,--ignore=tests/test_overload_live.py)

lint: $(DEV) $(FRAMEWORKS) $(AUDIT) ## formatters, linters and type checks of the Python parts (Java's run in its build)
	$(BIN)/ruff format --check scripts python-service contract jmeter-plans audit robustness
	$(BIN)/ruff check scripts python-service contract jmeter-plans audit robustness
	cd scripts && ../$(BIN)/mypy && ../$(BIN)/lint-imports
	cd python-service && ../$(BIN)/mypy && ../$(BIN)/lint-imports
	cd audit && ../$(BIN)/mypy
	cd robustness && ../$(BIN)/mypy && ../$(BIN)/lint-imports

format: $(DEV) ## apply the formatters
	$(BIN)/ruff format scripts python-service contract jmeter-plans audit robustness
	$(MVN) -f java-service/pom.xml spotless:apply
	$(MVN) -f java-service/client/pom.xml spotless:apply

lock: ## write the lock files again from the .in files (needs uv)
	set -- --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'; \
	uv pip compile "$$@" python-service/requirements.in -o python-service/requirements.txt; \
	uv pip compile "$$@" -c python-service/requirements.txt $(FRAMEWORKS_LOCK:.txt=.in) -o $(FRAMEWORKS_LOCK); \
	uv pip compile "$$@" -c python-service/requirements.txt scripts/requirements.in -o scripts/requirements.txt; \
	uv pip compile "$$@" -c python-service/requirements.txt -c scripts/requirements.txt -c $(FRAMEWORKS_LOCK) $(DEV_LOCK:.txt=.in) -o $(DEV_LOCK); \
	uv pip compile "$$@" audit/requirements.in -o audit/requirements.txt

chaos: setup ## kill the harness and its processes at random moments, then continue the run (N=50 kills, SEED=1; REAL=1: the real Java service)
	@cd scripts && ../$(BIN)/python tests/support/chaos.py --times $(or $(N),50) --seed $(or $(SEED),1)$(if $(filter-out 0 no false,$(REAL)), --real)

audit: $(AUDIT) $(JMETER) ## write an SBOM of every part (CycloneDX) and look up their known problems
	@cd audit && $(WITH_JDK) ../.cache/audit/bin/python restbench_audit.py

bench-limit: $(VENV) $(JAR) $(FRAMEWORKS) wrk compiler ## CPU time per request of eight services relative to a C++ server (scripts/tools/limit), about an hour
	@cd scripts && ../$(BIN)/python -m tools.bench_limit

bench-mg: $(VENV) $(JAR) compiler ## the time of Java's NAS kernel MG relative to the same kernel in plain C++ (scripts/tools/limit), about 3 minutes
	@cd scripts && ../$(BIN)/python -m tools.bench_mg

microbench: $(DEV) $(JAR) $(BENCHMARKS) ## time the parts of a request without HTTP; from which size on does a technique pay off? (PROFILE=quick, 13 to 23 minutes; full)
	@cd scripts && ../$(BIN)/python -m tools.bench_microbench --profile $(PROFILE)

bench-growth: $(VENV) $(JAR) wrk ## double sizes, users and threads: does anything grow faster than it should? (PROFILE=quick, about 9 minutes; smoke)
	@cd scripts && ../$(BIN)/python -m tools.bench_growth --profile $(PROFILE)

queue-controls: $(VENV) ## check that the queue checker finds lost commits and planted defects, and nothing in a correct database (N=10, about 5 minutes)
	@cd scripts && ../$(BIN)/python -m tools.queue_controls --times $(or $(N),10)

overload: $(DEV) $(JAR) wrk $(filter nginx haproxy,$(or $(FRONT),nginx)) ## test the services under overload, bad clients, kill -9 and stops (FRONT=haproxy, SECONDS=60, CONNECTIONS=1000, SERVICE, STRATEGY, SCENARIO, KILLS, SEED)
	@cd robustness && ../$(BIN)/python -m restbench_robustness.overload --seconds $(or $(SECONDS),60) --connections $(or $(CONNECTIONS),1000) \
	  --service $(or $(SERVICE),both) --front $(or $(FRONT),nginx) --strategy $(or $(STRATEGY),all) --scenario $(or $(SCENARIO),all) --kills $(or $(KILLS),20) --seed $(or $(SEED),1)

fuzz: $(DEV) $(JAR) ## send the same bodies to both services and compare with an oracle (N=100000, SEED=1)
	@cd robustness && ../$(BIN)/python -m restbench_robustness.fuzz --bodies $(or $(N),100000) --seed $(or $(SEED),1)

client-soak: $(DEV) tools-java ## 10^6 calls with 10 % faults under every strategy of both clients (N=1000000 calls)
	$(MVN) -f java-service/client/pom.xml test -Dtest=SoakTest -Dsoak.calls=$(or $(N),1000000)
	cd scripts && RESTBENCH_SOAK_CALLS=$(or $(N),1000000) ../$(BIN)/python -m pytest -p no:schemathesis tests/client/test_calling_soak.py

jmeter-gui: $(JMETER) ## open the load plan in JMeter's own window
	@jmeter-plans/jmeter.sh -t jmeter-plans/closed-load.jmx

clean: ## remove what setup, serve and secrets made, with messages and passwords (results stay); ends what serves
	@if $(BIN)/python -c 'import restbench' 2>/dev/null; then $(BIN)/restbench stop; fi
	rm -rf .venv .cache java-service/target java-service/client/target jmeter-plans/target

# --- what setup makes -------------------------------------------------------------------------
.PHONY: sysstat chromium wrk nginx haproxy apache compiler python3-dev headers-python tools-java tools-python
tools-java:
	@{ command -v java && command -v mvn; } >/dev/null || { echo "Java 17+ and Maven are needed: apt-get install openjdk-17-jdk-headless maven"; exit 3; }

# gunicorn's parser in C is compiled where it is installed, with the headers of the Python that will run it.
headers-python: tools-python compiler
	@test -e "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" || $(MAKE) --no-print-directory python3-dev

tools-python:
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "Python 3.11+ with venv is needed: apt-get install python3 python3-venv (or set PYTHON=...)"; exit 3; }

$(VENV): $(LOCKS) scripts/pyproject.toml | headers-python
	@echo "setting up the virtual environment .venv"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes $(addprefix -r ,$(LOCKS))
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e scripts
	@touch $@

$(DEV): $(VENV) $(DEV_LOCK)
	@echo "adding linters and test tools to .venv"
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r $(DEV_LOCK)
	@touch $@

$(FRAMEWORKS): $(VENV) $(FRAMEWORKS_LOCK)
	@echo "adding web frameworks to .venv"
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r $(FRAMEWORKS_LOCK)
	@touch $@

$(AUDIT): audit/requirements.txt | tools-python
	@echo "setting up the virtual environment of the audit"
	@$(PYTHON) -m venv .cache/audit
	@.cache/audit/bin/pip install -q --disable-pip-version-check --require-hashes -r audit/requirements.txt
	@touch $@

$(JAR): java-service/pom.xml $(shell find java-service/src/main contract -type f 2>/dev/null) | tools-java
	@echo "building the Java service"
	@$(MVN) -f java-service/pom.xml package -DskipTests
	@touch $@

$(CLIENT): java-service/client/pom.xml $(shell find java-service/client/src/main contract/soap -type f 2>/dev/null) | tools-java
	@echo "building the Java client"
	@$(MVN) -f java-service/client/pom.xml package -DskipTests
	@touch $@

# The benchmarks are compiled with the tests; this file lists the libraries that they need in addition.
$(BENCHMARKS): $(JAR) $(shell find java-service/src/test -type f 2>/dev/null)
	@echo "building the Java benchmarks"
	@$(MVN) -f java-service/pom.xml test-compile dependency:build-classpath -Dmdep.outputFile=$(abspath $@)
	@touch $@

$(JMETER): jmeter-plans/pom.xml jmeter-plans/archive_classes.py $(shell find jmeter-plans/src -type f 2>/dev/null) | tools-java tools-python
	@echo "setting up JMeter 5.6.3"
	@$(MVN) -f jmeter-plans/pom.xml process-resources
	@$(PYTHON) jmeter-plans/archive_classes.py
	@touch $@

# $(call debian,program,package) installs a Debian package if its program is missing and we have the rights, else it prints the
# line to type. A package such as nginx would start its system service on port 80, so a temporary policy file forbids that.
define debian
	@PATH=$$PATH:/usr/sbin; command -v $(1) >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ]; then root=; elif sudo -n true 2>/dev/null; then root=sudo; \
	else echo "$(2) is missing. Type: sudo apt-get install $(2)"; exit 3; fi; \
	policy=/usr/sbin/policy-rc.d; if [ ! -e $$policy ]; then \
	  printf '#!/bin/sh\nexit 101\n' | $$root tee $$policy >/dev/null; $$root chmod +x $$policy; trap "$$root rm $$policy" EXIT; fi; \
	install="$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 $(2)"; \
	$$install >/dev/null || { $$root apt-get update -qq && $$install >/dev/null; }
endef
sysstat: ; $(call debian,sar,sysstat)
# The tests of pages are skipped without it, and Ubuntu has no such package: a failure is only shown.
chromium: ; -$(call debian,chromium,chromium)
wrk: ; $(call debian,wrk,wrk)
nginx: ; $(call debian,nginx,nginx)
haproxy: ; $(call debian,haproxy,haproxy)
apache: ; $(call debian,apache2,apache2-bin)
compiler: ; $(call debian,g++,g++)
python3-dev: ; $(call debian,python3-config,python3-dev)
