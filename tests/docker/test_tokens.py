"""What each token of the InfluxDB in Docker may do."""

import json
import urllib.error
import urllib.parse
import urllib.request


def call(method, url, token, body=None):
    """Return the status and the answer."""
    request = urllib.request.Request(url, body, {"Authorization": f"Token {token}"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def query(bucket, token, influxql):
    parameters = urllib.parse.urlencode({"db": bucket.bucket, "q": influxql})
    return call("GET", f"{bucket.url}/query?{parameters}", token)


def write(bucket, token, lines=b"m,host=h f=1 1000000000\n"):
    parameters = urllib.parse.urlencode({"org": bucket.org, "bucket": bucket.bucket})
    return call("POST", f"{bucket.url}/api/v2/write?{parameters}", token, lines)[0]


def delete(bucket, token):
    parameters = urllib.parse.urlencode({"org": bucket.org, "bucket": bucket.bucket})
    body = json.dumps({"start": "1970-01-01T00:00:00Z", "stop": "1971-01-01T00:00:00Z"}).encode()
    return call("POST", f"{bucket.url}/api/v2/delete?{parameters}", token, body)[0]


def test_what_each_token_may_do(bucket):
    assert write(bucket, bucket.telegraf_token) == 204
    assert write(bucket, bucket.token) == 204
    assert write(bucket, bucket.grafana_token) == 403
    for token in (bucket.token, bucket.grafana_token):
        assert '["1970-01-01T00:00:01Z",1]' in query(bucket, token, "SELECT f FROM m")[1]
    assert "[1" not in query(bucket, bucket.telegraf_token, "SELECT f FROM m")[1]
    # InfluxDB lets no-one delete who may not write; Telegraf's token may, within its own bucket.
    assert delete(bucket, bucket.grafana_token) == 403
    assert delete(bucket, bucket.token) == 204
    assert "values" not in query(bucket, bucket.token, "SELECT f FROM m")[1]


def test_no_token_reaches_beyond_its_bucket(influxdb, bucket):
    for token in (bucket.token, bucket.telegraf_token):
        assert write(influxdb, token) in (401, 403, 404)
    for token in (bucket.token, bucket.telegraf_token, bucket.grafana_token):
        assert json.loads(call("GET", f"{bucket.url}/api/v2/authorizations", token)[1])["authorizations"] == []
        assert call("GET", f"{bucket.url}/api/v2/buckets?name={influxdb.bucket}", token)[1].count('"id"') == 0


def test_ingest_can_ask_how_long_data_is_kept(influxdb):
    short = influxdb.fresh(retention_s=7200)
    for token in (short.token, short.grafana_token):
        status, answer = call("GET", f"{short.url}/api/v2/buckets?name={short.bucket}", token)
        assert status == 200
        assert json.loads(answer)["buckets"][0]["retentionRules"][0]["everySeconds"] == 7200
