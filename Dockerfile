# The command shardopt. Build the wheels first: ./dev wheel && docker build -t shardopt .
# Then: docker run --rm -v "$PWD:/work" -w /work shardopt plan config.json --context 8192
FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3-venv \
 && rm -rf /var/lib/apt/lists/*
COPY dist/shardopt-*-cp311-*.whl /tmp/
RUN python3 -m venv /opt/shardopt \
 && /opt/shardopt/bin/pip install --no-cache-dir /tmp/shardopt-*.whl \
 && rm /tmp/shardopt-*.whl
ENTRYPOINT ["/opt/shardopt/bin/shardopt"]
