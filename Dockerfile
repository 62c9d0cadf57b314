# Builds the daemon from source, and an image with only the daemon and its libraries.
#
#   docker build -t quota-controller-manager:0.1.0 .
#
# The same arguments give the same image: BASE with a digest (debian:12-slim@sha256:…), REVISION the
# commit, SOURCE_DATE_EPOCH its time in seconds since 1970 (docker buildx and buildah --timestamp).
# The stage "build" has the debug symbols in /debug. cmd/release.sh uses only the last stage, for
# images of amd64 and arm64.
ARG BASE=debian:12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY .ci/install-packages.sh .ci/
RUN bash .ci/install-packages.sh
COPY . .
ARG SOURCE_DATE_EPOCH
RUN QCM_BUILD_DIR=/build bash cmd/build.sh package quota-controller-manager \
    && bash .ci/image-root.sh /build /image \
    && bash .ci/debug-symbols.sh /build/bin/quota-controller-manager /debug \
    && find /image -newermt "@${SOURCE_DATE_EPOCH:-0}" \
         -exec touch -h -d "@${SOURCE_DATE_EPOCH:-0}" {} +

FROM scratch
COPY --from=build /image/ /
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="quota-controller-manager" \
      org.opencontainers.image.description="Keeps the usage shown in every quota true, \
and refuses what would exceed it" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="scratch"
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/quota-controller-manager"]
