"""The web side of a cluster: REST of the ResourceManager, JMX and WebHDFS of the NameNode. No proxy is asked."""
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request

from hadoop_processes import ClusterError

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url, patience=5):
    """A JSON answer; None while there is none."""
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    try:
        with OPENER.open(request, timeout=patience) as answer:
            return json.load(answer)
    except (OSError, http.client.HTTPException, ValueError):
        return None


def post(url, body, patience=10):
    """Errors: ClusterError with what the server said."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with OPENER.open(request, timeout=patience):
            pass
    except urllib.error.HTTPError as error:
        raise ClusterError(f"{url}: {error.code} {error.read(500)!r}") from error
    except (OSError, http.client.HTTPException) as error:
        raise ClusterError(f"{url}: {error}") from error


def webhdfs(method, base, path, operation, body=None, follow=True, **parameters):
    """One WebHDFS call as (status, body). Bytes to be written go to where the NameNode points, never to itself."""
    query = urllib.parse.urlencode({"op": operation, **parameters})
    status, headers, answer = exchange(method, f"{base}{urllib.parse.quote(path)}?{query}")
    if status == 307 and follow:
        status, headers, answer = exchange(method, headers["Location"], body)
    return status, answer


def exchange(method, url, body=None, patience=30):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=patience)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise ClusterError(f"{method} {url}: {error}") from error
    finally:
        connection.close()
