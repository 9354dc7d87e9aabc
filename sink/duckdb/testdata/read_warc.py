"""Reads a file of run --warc-out record by record, with zlib alone, and checks lengths,
digests and references. Prints the numbers of hosts, requests and answers."""
import base64, hashlib, json, sys, zlib

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
    payload = block
    if fields["WARC-Type"] == ["response"]:
        blank = min(at for at in (block.find(b"\r\n\r\n") + 4, block.find(b"\n\n") + 2, len(block)) if at >= 4)
        payload = block[blank:]
    for name, content in ("WARC-Block-Digest", block), ("WARC-Payload-Digest", payload):
        for digest in fields.get(name, []):
            algorithm, value = digest.split(":")
            assert base64.b32encode(hashlib.new(algorithm, content).digest()).decode() == value, (name, record)
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
