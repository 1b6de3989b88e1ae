# The image: the service as one static binary, which runs as a user without rights and keeps its data under /data.
#   docker build --build-arg VERSION=v1.2.3 --build-arg REVISION="$(git rev-parse HEAD)" -t ginseng .
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG VERSION=unknown
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -tags nomsgpack -ldflags "-s -w -X main.version=$VERSION" -o /out/ginseng . && \
    mkdir /out/data

# Certificates of authorities, time zones, a user "nonroot", and no shell.
FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Ginseng" \
      org.opencontainers.image.description="REST API service over MongoDB or an embedded database" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /out/ginseng /usr/local/bin/ginseng
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# The service reads .env here, and SQLite puts its temporary files here when the rest of the disk is read-only.
WORKDIR /data
VOLUME /data
ENV APP_ENV=production
EXPOSE 9000
# The start period is as long as the service waits for a database that is not there yet.
HEALTHCHECK --interval=10s --timeout=6s --start-period=40s CMD ["ginseng", "healthcheck"]
ENTRYPOINT ["ginseng"]
