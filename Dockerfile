# The image of Plimsoll: it runs plimsoll up. docker-compose.yml also uses it to load logs and to create InfluxDB's tokens.
FROM python:3.13.5-slim-bookworm@sha256:4c2cf9917bd1cbacc5e9b07320025bdb7cdf2df7b0ceaccb55e9dd7e30987419

WORKDIR /opt/plimsoll
COPY install/requirements.txt install/
RUN pip install --no-cache-dir --require-hashes -r install/requirements.txt
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

RUN useradd --create-home plimsoll && install --directory --owner=plimsoll --group=plimsoll --mode=700 /var/lib/plimsoll
USER plimsoll
WORKDIR /home/plimsoll
VOLUME /var/lib/plimsoll
EXPOSE 8087
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8087/health', timeout=4)"]
# Not the container's own counters: they are those of no host, under a name that each new container changes.
CMD ["plimsoll", "up", "--no-collect", "--store", "/var/lib/plimsoll", "--listen", "0.0.0.0:8087"]
