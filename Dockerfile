# hameld in a minimal container: built on Debian 12, run without root.
#
#   docker build -t hamel .
#   docker run --rm --network host -v hamel-data:/var/lib/hamel hamel
#
# Without a token file hameld listens on loopback only, so the container uses the network of the host. If you have a
# token file, set HAMELD_TOKENS and HAMELD_LISTEN=0.0.0.0:8080, and publish the port instead of using the host network.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make
WORKDIR /src
COPY . .
RUN make -j"$(nproc)" all && make install DESTDIR=/out PREFIX=/usr && cp deploy/packages.txt deploy/setup.sh /out/

FROM debian:12-slim
COPY --from=build /out/packages.txt /out/setup.sh /setup/
RUN sh /setup/setup.sh run && rm -rf /var/lib/apt/lists/* /setup \
    && useradd --system --home-dir /var/lib/hamel --create-home --shell /usr/sbin/nologin hamel
COPY --from=build /out/usr /usr
USER hamel
ENV HAMELD_DATA=/var/lib/hamel HAMELD_LISTEN=127.0.0.1:8080 HAMELD_SECCOMP=on
VOLUME /var/lib/hamel
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/hameld"]
