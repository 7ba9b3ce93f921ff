# The server with its page. `scripts/build-image.ts` builds it with buildah, without a registry of images, on a base that it
# makes itself; tests run it with podman. `docker build -t tandem .` should work, but was never tried. How to run it is in
# docs/guides/containers.md.

# Debian with Node 24 and npm.
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BASE} AS page
ARG NPM_CONFIG_REGISTRY
ARG NODE_EXTRA_CA_CERTS
WORKDIR /app
COPY . .
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
RUN node --input-type=module -e 'import { buildPage } from "./scripts/build-page.ts"; buildPage();'

FROM ${BASE} AS libraries
ARG NPM_CONFIG_REGISTRY
ARG NODE_EXTRA_CA_CERTS
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages packages
COPY apps apps
# No install scripts: the one library that has one brings the Node that this image has already.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts

FROM ${BASE}
# git for checkpoints and worktrees; tini passes signals on, and takes care of what commands of agents leave behind.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=libraries /app ./
COPY --from=page /app/apps/web/dist apps/web/dist
COPY container/tandem.yaml /etc/tandem/tandem.yaml
COPY container/postgres/tandem.yaml /etc/tandem/postgres/tandem.yaml
COPY container/entrypoint.sh /usr/local/bin/tandem-entrypoint
COPY container/health.mjs container/health.mjs
# Nothing of the program is the user's to change; /data and /workspace are.
RUN ln -s /app/apps/cli/bin/tandem.mjs /usr/local/bin/tandem \
  && chmod 0755 /usr/local/bin/tandem-entrypoint apps/cli/bin/tandem.mjs \
  && useradd --create-home --uid 10001 tandem \
  && install -d -o tandem -g tandem -m 0700 /data \
  && install -d -o tandem -g tandem /workspace
ENV NODE_ENV=production \
  TANDEM_HOME=/data \
  TANDEM_PROJECT=/etc/tandem
USER tandem
WORKDIR /workspace
VOLUME ["/data", "/workspace"]
EXPOSE 4760
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "/app/container/health.mjs"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "tandem-entrypoint"]
CMD ["up"]
