# The image of Plimsoll, used by docker-compose.yml to load logs and to create InfluxDB's tokens.
FROM python:3.13.5-slim-bookworm@sha256:4c2cf9917bd1cbacc5e9b07320025bdb7cdf2df7b0ceaccb55e9dd7e30987419

WORKDIR /opt/plimsoll
COPY install/requirements.txt install/
RUN pip install --no-cache-dir --require-hashes -r install/requirements.txt
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

RUN useradd --create-home plimsoll
USER plimsoll
WORKDIR /home/plimsoll
CMD ["plimsoll", "--help"]
