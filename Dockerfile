# The image: the service as one static binary, which runs as a user without rights and keeps its data under /data.
#   docker build --build-arg VERSION=v1.2.3 --build-arg REVISION="$(git rev-parse HEAD)" -t ginseng .
# The compiler runs on the machine's own processor, whichever the image is for: docker build --platform linux/arm64 ….
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG VERSION=unknown
ARG TARGETOS
ARG TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make build VERSION="$VERSION" && \
    mkdir -p /out/data /out/root/etc/ssl/certs /out/root/usr/local/bin && \
    echo 'nonroot:x:65532:65532::/data:/' > /out/root/etc/passwd && \
    cp /etc/ssl/certs/ca-certificates.crt /out/root/etc/ssl/certs/ && \
    cp ginseng /out/root/usr/local/bin/

# Certificates of authorities, a user, and no shell.
FROM scratch
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Ginseng" \
      org.opencontainers.image.description="REST API service over MongoDB or an embedded database" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /out/root /
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# The service reads .env here, and SQLite puts its temporary files here when the rest of the disk is read-only.
WORKDIR /data
VOLUME /data
ENV APP_ENV=production PATH=/usr/local/bin
EXPOSE 9000
# No start period: in one, newer engines look every 5 s at first, unless told otherwise in words that older ones do not
# know. Instead the failures allowed last longer than the service waits for a database that is not there yet.
HEALTHCHECK --interval=3s --timeout=6s --retries=14 CMD ["ginseng", "healthcheck"]
ENTRYPOINT ["ginseng"]
