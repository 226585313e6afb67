#!/usr/bin/env bash
# Gathers about 300 MB of clean text into DIR/text from what package registries publish: source code, documents, lock
# files, logs, notebooks, locales, minified code, pictures as text. `tests/precision/list.rs` scrubs it.
#
#   tests/precision/gather.sh DIR
#
# Nothing that was downloaded is run. A package that is gone, or a missing client, is left out with a line that says so: the figure is
# about kinds of text, not about one set of bytes.
set -uo pipefail
dir=$(realpath -m "${1:?usage: gather.sh DIR}")
here=$(realpath "$(dirname "$0")")
repository=$here/../..
mkdir -p "$dir"/{wheels,sdists,npm,go,maven,deb,logs}

pypi_wheels='django numpy pandas boto3 botocore azure-identity azure-storage-blob azure-keyvault-secrets google-cloud-storage
google-cloud-aiplatform google-auth transformers langchain langchain-core langchain-community langchain-openai openai anthropic
litellm mcp pydantic-ai crewai llama-index-core jupyterlab notebook nbconvert plotly bokeh sympy scipy matplotlib scikit-learn
mlflow apache-airflow-core ansible-core kubernetes celery twisted scrapy poetry pip faker fastapi sqlalchemy cryptography paramiko
sentry-sdk opentelemetry-sdk opentelemetry-semantic-conventions hvac docker sphinx babel pygments nltk streamlit gradio networkx'
pypi_sdists='django requests sqlalchemy celery paramiko flask jinja2 pyyaml httpx click tornado bleach markdown pytest
nbformat authlib pyjwt python-jose itsdangerous redis pymongo'
npm_packages='typescript react react-dom next lodash webpack openai @anthropic-ai/sdk @modelcontextprotocol/sdk langchain @langchain/core aws-sdk
@aws-sdk/client-s3 @aws-sdk/client-sts @azure/identity @azure/storage-blob @google-cloud/storage firebase express axios jquery d3 three
vue @angular/core rxjs eslint prettier jest mocha chai vite rollup esbuild-wasm date-fns moment highlight.js monaco-editor katex
font-awesome bootstrap bootstrap-icons mermaid swagger-ui-dist jsonwebtoken passport next-auth stripe twilio @slack/web-api octokit discord.js
graphql @apollo/client prisma mongoose sequelize typeorm serverless @opentelemetry/sdk-node source-map yarn npm pnpm'
go_modules='k8s.io/client-go@v0.31.0 k8s.io/kubernetes@v1.31.0 github.com/hashicorp/vault/api@v1.15.0 github.com/aws/aws-sdk-go@v1.55.5
github.com/spf13/cobra@v1.8.1 github.com/prometheus/prometheus@v0.54.0 github.com/grafana/grafana-plugin-sdk-go@v0.250.0
github.com/docker/cli@v27.2.0+incompatible github.com/gin-gonic/gin@v1.10.0 google.golang.org/grpc@v1.66.0 golang.org/x/crypto@v0.27.0
golang.org/x/oauth2@v0.23.0 github.com/cli/cli/v2@v2.55.0 helm.sh/helm/v3@v3.16.0'
maven_sources='org.springframework:spring-web:6.1.12 org.springframework.security:spring-security-config:6.3.3 com.google.guava:guava:33.3.0-jre
org.apache.commons:commons-lang3:3.17.0 com.fasterxml.jackson.core:jackson-databind:2.17.2 org.apache.kafka:kafka-clients:3.8.0
software.amazon.awssdk:s3:2.28.0 org.hibernate.orm:hibernate-core:6.6.0.Final io.netty:netty-handler:4.1.113.Final
org.apache.logging.log4j:log4j-core:2.24.0 org.scala-lang:scala-library:2.13.14 org.jetbrains.kotlin:kotlin-stdlib:2.0.20'
debian_packages='manpages manpages-dev git-doc apache2-doc nginx-doc debian-policy developers-reference zsh-doc libcurl4-doc nodejs-doc libssl-doc
sqlite3-doc python3.11-doc postgresql-doc-15 perl-doc vim-runtime wordpress phpmyadmin roundcube-core linux-doc-6.1 git openssl ruby3.1
nginx-common samba-common dovecot-core postfix slapd mariadb-server openssh-server rsyslog logwatch fail2ban bind9-doc exim4-config
php8.2-common emacs-common r-base-core octave-doc tcl8.6-doc'

without() { printf 'left out: %s\n' "$*" >&2; }

for package in $pypi_wheels; do
    pip download -q --no-deps --only-binary :all: -d "$dir/wheels" "$package" >>"$dir/logs/pip.log" 2>&1 || without "$package (wheel)"
done
for package in $pypi_sdists; do
    pip download -v --no-deps --no-binary "$package" -d "$dir/sdists" "$package" >>"$dir/logs/pip-sdists.log" 2>&1 || without "$package (sdist)"
done
for package in $npm_packages; do
    (cd "$dir/npm" && npm pack --loglevel verbose "$package") >>"$dir/logs/npm.log" 2>&1 || without "$package (npm)"
done
# A lock file of each kind, of a real project.
(cd "$dir/npm" && mkdir -p locks && cd locks && npm init -y && npm install --package-lock-only --ignore-scripts next webpack jest eslint \
    @aws-sdk/client-s3 langchain) >>"$dir/logs/npm-lock.log" 2>&1 || without 'package-lock.json'
for module in $go_modules; do
    (cd "$dir/go" && GOFLAGS=-mod=mod GOPATH=$dir/go GOSUMDB=off go mod download -x -json "$module") >>"$dir/logs/go.log" 2>&1 || without "$module (go)"
done
for artifact in $maven_sources; do
    mvn -B dependency:copy "-Dartifact=$artifact:jar:sources" "-DoutputDirectory=$dir/maven" >>"$dir/logs/maven.log" 2>&1 ||
        without "$artifact (maven)"
done
for package in $debian_packages; do
    (cd "$dir/deb" && apt-get download "$package") >>"$dir/logs/apt.log" 2>&1 || without "$package (deb)"
done
cp /var/log/dpkg.log* /var/log/apt/*.log "$dir/logs/" 2>/dev/null
(cd "$repository" && cargo fetch --locked && cargo metadata --locked --format-version 1 && cargo tree --locked) >"$dir/logs/cargo.log" 2>&1 ||
    without 'cargo'

python3 "$here/pick.py" "$dir" "${CARGO_HOME:-$HOME/.cargo}/registry/src"
