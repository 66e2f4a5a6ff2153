# The server with its console. Pin the base image by digest in your own build: `docker buildx imagetools inspect node:26-slim` prints it.
ARG NODE_IMAGE=node:26-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund --loglevel=error
RUN npm run build
RUN mkdir /out && cp package.json package-lock.json .npmrc LICENSE /out/ && \
  for name in core toolkit tools-github tools-linear tools-mcp tools-objectives tools-openapi tools-workspace server; do \
    mkdir -p /out/packages/$name && cp -r packages/$name/package.json packages/$name/dist /out/packages/$name/; \
  done && cp -r packages/server/console packages/server/starter /out/packages/server/ && cp -r docker /out/

# The libraries of the server alone, as the lockfile names them.
FROM ${NODE_IMAGE} AS libraries
WORKDIR /app
COPY --from=build /out ./
RUN npm ci --workspace=@countersign/image --include-workspace-root=false --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
ENV COUNTERSIGN_HOST=0.0.0.0
ENV COUNTERSIGN_DATA=/data
WORKDIR /app
COPY --from=libraries /app ./
RUN mkdir -p /app/config /data && chown 10001:10001 /data && ln -s /app/docker/countersign.mjs /usr/local/bin/countersign
USER 10001:10001
# The configuration is mounted here: one in TypeScript finds the packages countersign and zod in the folder above.
WORKDIR /app/config
VOLUME /data
EXPOSE 4319
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=60s --retries=3 CMD ["node", "/app/docker/health.mjs"]
ENTRYPOINT ["node", "/app/docker/countersign.mjs"]
CMD ["serve", "--no-open"]
