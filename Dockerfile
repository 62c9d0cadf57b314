# Builds the daemon from source and ships it with the libraries it links, nothing else of the build.
FROM debian:12-slim AS build
WORKDIR /src
COPY .ci/install-packages.sh .ci/
RUN bash .ci/install-packages.sh
COPY . .
RUN QCM_BUILD_DIR=/build bash cmd/build.sh release quota-controller-manager \
    && strip /build/bin/quota-controller-manager

FROM debian:12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libgflags2.2 libgoogle-glog0v6 \
       libyaml-cpp0.7 libprometheus-cpp-core1.0 libssl3 zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /build/bin/quota-controller-manager /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/quota-controller-manager"]
