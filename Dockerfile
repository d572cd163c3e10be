# The image of Plimsoll, used by docker-compose.yml to load logs and to create InfluxDB's tokens.
FROM python:3.13.5-slim-bookworm

WORKDIR /opt/plimsoll
COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

RUN useradd --create-home plimsoll
USER plimsoll
WORKDIR /home/plimsoll
CMD ["plimsoll", "--help"]
