"""Reads a file of run --warc-out record by record, with no package of others, and checks
lengths, digests and references. Prints the numbers of hosts, requests and answers."""
import base64, hashlib, http.client, io, json, sys, zlib

http.client._MAXHEADERS = 1000  # it reads no more than 100

class Sent:
    """A socket that has received an answer."""

    def __init__(self, text):
        self.text = text

    def makefile(self, mode):
        return io.BytesIO(self.text)


data, records, facts, at = open(sys.argv[1], "rb").read(), {}, [], 0
while at < len(data):
    member, record = zlib.decompressobj(31), b""
    while not member.eof:  # the rest of the file is copied for no member
        assert at < len(data), "a member is cut off"
        record += member.decompress(data[at:at + 8192])
        at += 8192
    at = min(at, len(data)) - len(member.unused_data)
    head, rest = record.split(b"\r\n\r\n", 1)
    version, *lines = head.decode().split("\r\n")
    fields = {}
    for line in lines:
        name, value = line.split(": ", 1)
        fields.setdefault(name, []).append(value)
    block, end = rest[:int(fields["Content-Length"][0])], rest[int(fields["Content-Length"][0]):]
    assert version == "WARC/1.1" and end == b"\r\n\r\n", record
    assert fields.get("WARC-Block-Digest") == ["sha256:" + hashlib.sha256(block).hexdigest()], record
    for digest in fields.get("WARC-Payload-Digest", []):
        answer = http.client.HTTPResponse(Sent(block), method="GET")
        answer.begin()
        assert digest == "sha1:" + base64.b32encode(hashlib.sha1(answer.read()).digest()).decode(), record
    assert ("WARC-Target-URI" in fields) == (fields["WARC-Type"][0] not in ("warcinfo", "metadata")), record
    identity = fields["WARC-Record-ID"][0].strip("<>")
    assert identity not in records, identity
    records[identity] = fields["WARC-Type"][0]
    if fields["WARC-Type"] == ["metadata"] and fields["Content-Type"] == ["application/json"]:
        facts.append(json.loads(block))
        records[identity] = "facts"

asked, answered, bodies = [], [], []
for fact in facts:
    for exchange in fact.get("exchanges", []):
        asked += [exchange["request"]] if "request" in exchange else []
        answered += [exchange["response"]] if "response" in exchange else []
    bodies += fact.get("bodies", [])
assert len(set(asked + answered)) == len(asked + answered), "two exchanges have one record"
others = [identity for identity, kind in records.items() if kind not in ("warcinfo", "facts")]
assert set(asked + answered + bodies) == set(others), "a record is of no fetch, or missing"
print(len(facts), len(asked), len(answered))
