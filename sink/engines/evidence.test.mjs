// warcio, the reader of web archives that others wrote, reads the evidence of a run record
// by record: of hosts that answer in every way, or not at all.
//
//	node --test           the commands are in ../../bin; make test-engines builds them

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { WARCParser } from 'warcio';

const work = mkdtempSync(join(tmpdir(), 'evidence-'));
after(() => rmSync(work, { recursive: true }));
const here = name => new URL('../../' + name, import.meta.url).pathname;
const faults = here('sink/duckdb/testdata/everyfault.yaml');

// records yields the records of a file with their content: the block, or the decoded payload.
async function* records(file, parseHttp) {
  for await (const record of new WARCParser(createReadStream(file), { parseHttp })) {
    yield { record, content: (await record.readFully(parseHttp)) ?? new Uint8Array() };
  }
}

const base32 = bytes => {
  let bits = '', out = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  for (let i = 0; i < bits.length; i += 5) out += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(bits.slice(i, i + 5).padEnd(5, '0'), 2)];
  return out;
};
const sha1 = content => base32(createHash('sha1').update(content).digest());

test('warcio reads every record', async () => {
  const farm = spawn(here('bin/robofarm'), ['serve', '--dir', here('testdata/demo/hosts'), '--http', '127.0.0.1:0', '--faults', faults], { stdio: ['ignore', 'pipe', 'inherit'] });
  const hosts = readFileSync(faults, 'utf8').split('\n').filter(line => line.includes(': ') && !line.startsWith('#')).map(line => line.split(': ')[0]);
  const file = join(work, 'evidence.warc.gz');
  writeFileSync(join(work, 'hosts.txt'), hosts.join('\n'));
  for await (const line of createInterface({ input: farm.stdout })) {
    execFileSync(here('bin/robocensus'), ['run', '--hosts', join(work, 'hosts.txt'), '--out', join(work, 'out'), '--schemes', 'http', '--connect-to', line.split('://')[1],
      '--timeout', '3s', '--retries', '1', '--front-page', '--warc-out', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    break;
  }
  farm.kill('SIGINT');

  const facts = [], others = [], ids = new Set(), plain = new Set(); // plain: headers that warcio knows from the body
  let responses = 0;
  for await (const { record, content } of records(file, false)) {
    const id = record.warcHeader('WARC-Record-ID').slice(1, -1);
    assert.ok(!ids.has(id), id);
    ids.add(id);
    assert.equal(record.warcHeader('WARC-Block-Digest'), 'sha256:' + createHash('sha256').update(content).digest('hex'));
    assert.equal(Number(record.warcHeader('Content-Length')), content.length);
    if (record.warcType === 'metadata' && record.warcContentType === 'application/json') facts.push(JSON.parse(Buffer.from(content).toString()));
    else if (record.warcType !== 'warcinfo') others.push(id);
    if (record.warcType === 'response') responses++;
    if (/^HTTP[^\r\n]*\r\n([^\r\n]+\r\n)+\r\n/.test(Buffer.from(content).toString('latin1'))) plain.add(id);
  }
  assert.deepEqual(facts.map(fact => fact.capture.origin.host), hosts);
  const named = facts.flatMap(fact => (fact.exchanges ?? []).flatMap(x => [x.request, x.response])).filter(id => id);
  assert.equal(new Set(named).size, named.length);
  assert.deepEqual(new Set(others), new Set(named));

  // The payload, decoded by warcio, is the body that the census judged.
  const bodies = new Map(facts.filter(fact => fact.bodies && !fact.capture.body_truncated).map(fact => [fact.bodies[0], fact.content_digest]));
  let compared = 0;
  for await (const { record, content } of records(file, true)) {
    const id = record.warcHeader('WARC-Record-ID').slice(1, -1), want = bodies.get(id);
    const coding = record.httpHeaders?.headers.get('Content-Encoding') ?? 'gzip';
    // It decodes no other encodings, takes a 103 for the answer, and the body for fields of a header that has none, or whose lines end with LF.
    if (!want || coding !== 'gzip' || record.httpHeaders?.statusCode === 103 || !plain.has(id)) continue;
    const sent = record.httpHeaders?.headers.get('Content-Encoding') ? undefined : record.httpHeaders?.headers.get('Content-Length') ?? undefined; // a server may send more
    assert.equal(sha1(content.subarray(0, sent)), want, record.warcTargetURI);
    compared++;
  }
  assert.ok(compared > 25, `${compared} bodies`);

  // Its indexer lists the answers, and no record of ours as another capture of a robots.txt.
  const index = execFileSync('node', [new URL('node_modules/warcio/dist/cli.js', import.meta.url).pathname, 'cdx-index', '--format', 'json', file]).toString();
  const lines = index.trim().split('\n').map(line => JSON.parse(line)).filter(line => line.url);
  assert.deepEqual(lines.filter(line => line.status === undefined), []);
  assert.equal(lines.length, responses);
});
