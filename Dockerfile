# The image: one static binary, CA roots and a configuration on an empty root. It needs no shell, no writable root and
# no user database. tests/image builds the last stage from a binary built outside, so keep that stage to COPY from
# `build` and from the context.

FROM docker.io/library/rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# The caches outlive a change of the sources, so that only what changed is compiled again.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    binary=$(.ci/static-binary) \
    && install -D "$binary" /out/blackbar \
    && install -D -m 0644 /etc/ssl/certs/ca-certificates.crt /out/ca-certificates.crt

FROM scratch AS image
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="blackbar" \
      org.opencontainers.image.description="A redacting OTLP proxy: removes credentials from telemetry and forwards the rest." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /out/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/blackbar /blackbar
COPY config/image.yaml /etc/blackbar/config.yaml
# By number: a kubelet can't tell that a name is not root.
USER 65532:65532
EXPOSE 4317 4318 13133
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 CMD ["/blackbar", "healthcheck"]
ENTRYPOINT ["/blackbar"]
CMD ["run", "--config", "/etc/blackbar/config.yaml"]
