# The executable, the C libraries that it is linked with, and nothing else: no shell, no packages.
#   docker build -t ops-panel .    builds it from the sources, in a container with Node
#   npm run build:image            builds it with npm's Node, and downloads no image
# docs/decisions/0017-container-image.md gives the reasons.
ARG NODE_IMAGE=node:26-bookworm

FROM ${NODE_IMAGE} AS built
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build:layout

FROM scratch
COPY --from=built /source/dist/image/root/ /
COPY --chown=10001:10001 --from=built /source/dist/image/own/ /var/lib/
# The cache folder contains libSQL's addon, so that no folder has to be both writable and executable.
ENV PANEL_HOST=0.0.0.0 PANEL_DATA_DIR=/var/lib/ops-panel XDG_CACHE_HOME=/usr/lib
USER 10001:10001
VOLUME /var/lib/ops-panel
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["/usr/bin/ops-panel", "health"]
ENTRYPOINT ["/usr/bin/ops-panel"]
LABEL org.opencontainers.image.title="ops-panel" \
      org.opencontainers.image.description="Backend of an administration panel for one virtualization host and its LXC containers"
