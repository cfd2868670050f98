# Build the image from this repository: docker build -t earshot .
FROM node:24-bookworm-slim AS build
WORKDIR /srv/earshot
COPY package.json package-lock.json .npmrc ./
COPY vite.config.ts tsconfig.json openapi.json ./
COPY bin bin
COPY server server
COPY migrations migrations
COPY console console
COPY client client
COPY docs docs
COPY tools tools
# This builds the console and removes what only building needs. The image has its own Node, so the packaged one is
# removed too.
RUN npm ci && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/node node_modules/.bin/node

FROM node:24-bookworm-slim
RUN useradd --create-home --uid 10001 earshot && install -d -o earshot -g earshot /data
COPY --from=build --chown=earshot:earshot /srv/earshot /srv/earshot
USER earshot
# A port is set, so a process that only runs jobs serves its health checks too.
ENV EARSHOT_DATA_DIR=/data HOST=0.0.0.0 PORT=4000
VOLUME /data
EXPOSE 4000
# Signals reach the service itself, which finishes its work and stops its database.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 4000) + '/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["/srv/earshot/bin/earshot", "serve"]
