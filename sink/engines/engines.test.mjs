// Every engine finds every row: each column of texts of each table, of runs over archives,
// files and a network, a run of shards, comparisons, a series and data sets, is filtered
// in ClickHouse, DuckDB and Polars. ClickHouse skips pages by the column index, all three
// skip row groups. What they must find is counted here, from the rows that arrow-rs reads,
// which skips nothing.
//
//	node --test           the commands are in ../../bin; make test-engines builds them

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { query } from 'chdb';
import pl from 'nodejs-polars';

const require = createRequire(import.meta.url);
const { readParquet } = require('parquet-wasm');
const arrow = require('apache-arrow');

const work = mkdtempSync(join(tmpdir(), 'engines-'));
const demo = new URL('../../testdata/demo/hosts', import.meta.url).pathname;
const bin = name => new URL('../../bin/' + name, import.meta.url).pathname;
const run = (...args) => execFileSync(bin('robocensus'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
const at = name => join(work, name);

let duckdb;

// files have what those of the demo lack: texts of templates, and labels of each kind.
const files = {
  'managed.example': '# BEGIN Cloudflare Managed content\nUser-agent: *\nContent-signal: search=yes, ai-train=no\nAllow: /\n# END Cloudflare Managed Content\n',
  'ghost.example': 'User-agent: *\nDisallow: /ghost/\nDisallow: /p/\nDisallow: /email/\nDisallow: /r/\nDisallow: /webmentions/\n',
  'level.example': 'User-agent: *\nContent-Signal: use=reference, mood=yes\nContent-Usage: train-ai=n\n',
};

// faults fill columns that stored answers leave empty. A host is asked for its robots.txt thrice a run.
const faults = `
down.example: {times: 3, body: "User-agent: *", then: {status: 503}}
wall.example: {status: 403, headers: {cf-mitigated: challenge}}
torn.example: {body: "User-agent: GPTBot\\nDisallow: /\\nUser-agent: *\\nAllow: /", paths: {"/": {reset: start}}}
page.example: {body: "User-agent: *", paths: {"/": {status: 200, body: "<!doctype html><p>Front", as: {GPTBot: {status: 402, headers: {crawler-price: USD 0.01}}}}}}
new.example:
  times: 3
  body_from: managed.example
  as: {GPTBot: {body: "User-agent: *\\nDisallow: /"}}
  paths:
    "/": {status: 200, headers: {Content-Usage: train-ai=n, Link: '</license.xml>; rel="license"'}, body: "<!doctype html><p>Front"}
    "/ai.txt": {status: 402, headers: {crawler-price: USD 0.01}}
    "/llms.txt": {redirect: "https://{host}/for-models.txt"}
    "/for-models.txt": {status: 200, body: "# Site"}
    "/license.xml": {status: 200, body: '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license><prohibits type="usage">ai-train</prohibits></license></content></rsl>'}
  then: {body_from: ghost.example, as: {GPTBot: 403}}
`;

// network takes three censuses of hosts: over https, again while one is down, whose file
// is remembered, and with http alone.
async function network(...common) {
  writeFileSync(at('faults.yaml'), faults);
  writeFileSync(at('ids.yaml'), '- {name: control}\n- {name: gpt, user_agent: GPTBot/1.2, agent: GPTBot}\n');
  writeFileSync(at('network.txt'), ['managed', 'down', 'wall', 'torn', 'page', 'new'].map(name => name + '.example\n').join(''));
  const farm = spawn(bin('robofarm'), ['serve', '--dir', at('hosts'), '--http', '127.0.0.1:0', '--https', '127.0.0.1:0', '--ca-out', at('ca.pem'), '--faults', at('faults.yaml')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const addresses = {};
  for await (const line of createInterface({ input: farm.stdout })) {
    const [scheme, address] = line.split('://');
    addresses[scheme] = address;
    if (addresses.http && addresses.https) break;
  }
  for (const [name, date, scheme] of [['m', '2024', 'https'], ['n', '2025', 'https'], ['o', '2026', 'http']]) {
    run('run', '--hosts', at('network.txt'), '--out', at('network'), '--run', name, '--as-of', date, '--connect-to', addresses[scheme], '--ca-file', at('ca.pem'),
      '--state', at('state'), '--max-age', '0', '--retries', '0', '--vantage', 'here', '--front-page', '--documents', '--pages', '--also-as', at('ids.yaml'), ...common);
  }
  farm.kill('SIGINT');
  run('diff', '--out', at('network'), 'm', 'n');
}

before(async () => {
  cpSync(demo, at('hosts'), { recursive: true });
  for (const [host, text] of Object.entries(files)) writeFileSync(at(join('hosts', host)), text);
  cpSync(at('hosts'), at('changed'), { recursive: true });
  writeFileSync(at('changed/managed.example'), 'User-agent: *\nDisallow: /\nSitemap: https://managed.example/sitemap.xml\n');
  // Of two archives, the first is of several segments, which the shard joins.
  for (const [name, repeat] of [['a', 25], ['b', 2]]) {
    execFileSync(bin('robofarm'), ['warc', '--dir', at('hosts'), '--out', at(name + '.warc.gz'), '--repeat', String(repeat)]);
  }
  writeFileSync(at('agents.yaml'), '- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n- {name: Bingbot, category: search}\n');
  writeFileSync(at('urls.txt'), '/\n/search?q=a-question-that-is-longer-than-the-bounds-of-pages\n');
  const common = ['--agents', at('agents.yaml'), '--urls', at('urls.txt'), '--profile', 'google,rfc9309', '--keep-bodies', '--keep-comments', '--progress', 'none'];
  run('run', '--warc', at('[ab].warc.gz'), '--out', at('out'), '--run', 'q', '--as-of', '2025', ...common);
  run('run', '--bodies', at('changed'), '--out', at('out'), '--run', 'r', '--as-of', '2026', ...common);
  for (const shard of ['0', '1']) {
    run('run', '--warc', at('[ab].warc.gz'), '--out', at('joined'), '--run', 'q', '--shards', '2', '--shard', shard, ...common);
  }
  await network(...common);
  run('demo', '--out', at('demo'), '--run', 'd', '--keep-bodies', '--progress', 'none'); // verdicts of two row groups, each of several pages
  run('diff', '--out', at('out'), 'q', 'r');
  run('series', '--out', at('out'), '--parquet', at('series.parquet'));
  run('publish', '--out', at('out'), 'q', 'r', '--to', at('set'), '--creator', 'A', '--licence', 'CC0-1.0');
  run('publish', '--out', at('out'), 'q', 'r', '--to', at('hashed'), '--creator', 'A', '--licence', 'CC0-1.0', '--hash-hosts');
  run('publish', '--out', at('out'), 'q', 'r', '--to', at('less'), '--creator', 'A', '--licence', 'CC0-1.0', '--without', 'changes.after,bodies.body');
  duckdb = await (await DuckDBInstance.create()).connect();
});

after(() => rmSync(work, { recursive: true, force: true }));

const partsOf = (folder, table = '') =>
  readdirSync(at(join(folder, table)), { recursive: true }).filter(name => name.endsWith('.parquet')).sort().map(name => at(join(folder, table, name)));

// cellsOf returns the cells of each column of texts or bytes, as arrow-rs reads them.
function cellsOf(files) {
  const columns = new Map();
  for (const file of files) {
    const table = arrow.tableFromIPC(readParquet(readFileSync(file)).intoIPCStream());
    for (const field of table.schema.fields) {
      const isText = arrow.DataType.isUtf8(field.type);
      if (!isText && !arrow.DataType.isBinary(field.type)) continue;
      const column = columns.get(field.name) ?? { isText, cells: [] };
      columns.set(field.name, column);
      for (const cell of table.getChild(field.name)) column.cells.push(cell === null || isText ? cell : Buffer.from(cell).toString('hex'));
    }
  }
  return columns;
}

// wantedOf returns texts to look for, with the number of cells that have, follow or begin
// with each: the commonest, the least, the greatest, one between, and one that is not there.
function wantedOf(cells) {
  const counts = new Map();
  for (const cell of cells) if (cell !== null) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  const texts = [...counts.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const commonest = texts.reduce((a, b) => (counts.get(b) > counts.get(a) ? b : a), texts[0]);
  const wanted = new Set([commonest, texts[0], texts.at(-1), texts[texts.length >> 1]]);
  const sum = is => texts.reduce((n, t) => (is(t) ? n + counts.get(t) : n), 0);
  return {
    equal: [...wanted].filter(t => t !== undefined).map(t => [t, counts.get(t)]).concat([['\u{10fff0} is not there', 0]]),
    from: [...wanted].filter(t => t !== undefined).map(t => [t, sum(u => Buffer.compare(Buffer.from(u), Buffer.from(t)) >= 0)]),
    begins: [...wanted].filter(t => t).map(t => [...t].slice(0, Math.ceil([...t].length / 2)).join('')).map(t => [t, sum(u => u.startsWith(t))]),
    nulls: cells.filter(c => c === null).length, texts: cells.filter(c => c !== null).length,
    least: texts[0], greatest: texts.at(-1),
  };
}

const quoted = text => "'" + text.replaceAll("'", "''") + "'";
const escaped = text => "'" + text.replaceAll('\\', '\\\\').replaceAll("'", "\\'") + "'";

const engines = {
  async ClickHouse({ pattern }, column, isText) {
    const from = `FROM file('${pattern}', Parquet)`;
    const literal = text => (isText ? escaped(text) : `unhex('${text}')`);
    const one = text => Number(query(text, 'TabSeparatedRaw').trim());
    return {
      equal: text => one(`SELECT count() ${from} WHERE "${column}" = ${literal(text)}`),
      from: text => one(`SELECT count() ${from} WHERE "${column}" >= ${literal(text)}`),
      begins: text => one(`SELECT count() ${from} WHERE startsWith("${column}", ${literal(text)})`),
      nulls: () => one(`SELECT count() ${from} WHERE "${column}" IS NULL`),
      ends: (least, greatest) => one(`SELECT min("${column}") = ${literal(least)} AND max("${column}") = ${literal(greatest)} ${from}`),
    };
  },
  async DuckDB({ files }, column, isText) {
    const from = `FROM read_parquet([${files.map(quoted)}], hive_partitioning = false)`;
    const literal = text => (isText ? quoted(text) : `unhex('${text}')`);
    const one = async text => Number((await duckdb.runAndReadAll(text)).getRows()[0][0]);
    return {
      equal: text => one(`SELECT count(*) ${from} WHERE "${column}" = ${literal(text)}`),
      from: text => one(`SELECT count(*) ${from} WHERE "${column}" >= ${literal(text)}`),
      begins: text => one(`SELECT count(*) ${from} WHERE starts_with("${column}", ${literal(text)})`),
      nulls: () => one(`SELECT count(*) ${from} WHERE "${column}" IS NULL`),
      ends: (least, greatest) => one(`SELECT (min("${column}") = ${literal(least)} AND max("${column}") = ${literal(greatest)})::INT ${from}`),
    };
  },
  async Polars({ files }, column, isText) {
    if (!isText) return null; // its literals are texts
    const count = async where => {
      let n = 0;
      for (const file of files) n += (await pl.scanParquet(file).filter(where).select(pl.len()).collect()).row(0)[0];
      return n;
    };
    return {
      equal: text => count(pl.col(column).eq(pl.lit(text))),
      from: text => count(pl.col(column).gtEq(pl.lit(text))),
      begins: text => count(pl.col(column).str.startsWith(text)),
      nulls: () => count(pl.col(column).isNull()),
    };
  },
};

async function compare(name, files, pattern) {
  assert.notEqual(files.length, 0, 'no files of ' + name);
  const columns = cellsOf(files);
  assert.notEqual(columns.size, 0, name + ' has no columns of texts');
  let filters = 0;
  for (const [column, { isText, cells }] of columns) {
    const wanted = wantedOf(cells);
    if (cells.length > 0) tried.add(`${name}.${column}`);
    if (wanted.texts > 0) filled.add(`${name}.${column}`);
    for (const [engine, open] of Object.entries(engines)) {
      const ask = await open({ files, pattern }, column, isText);
      if (!ask) continue;
      for (const filter of isText ? ['equal', 'from', 'begins'] : ['equal', 'from']) {
        for (const [text, n] of wanted[filter]) {
          if (!isText && n === 0) continue; // it is no bytes
          assert.equal(await ask[filter](text), n, `${engine}: ${name} where ${column}, ${filter} ${JSON.stringify(text.slice(0, 99))}`);
          filters++;
        }
      }
      assert.equal(await ask.nulls(), wanted.nulls, `${engine}: ${name} where ${column} is null`);
      if (ask.ends && wanted.texts > 0) assert.equal(await ask.ends(wanted.least, wanted.greatest), 1, `${engine}: least and greatest ${column} of ${name}`);
      filters += 2;
    }
  }
  return filters;
}

// tried has the columns of rows, as table.column, and filled those that have had a text. In one
// without, nothing could be missed.
const filled = new Set();
const tried = new Set();

// less has what publish rewrites; in hashed, hosts and what names them are rewritten.
for (const folder of ['out', 'joined', 'network', 'demo', 'set', 'hashed', 'less']) {
  test(folder, async t => {
    const tables = [...new Set(partsOf(folder).map(path => relative(at(folder), path).split(sep)[0]))];
    for (const table of tables) {
      await t.test(table, async t => {
        const filters = await compare(table, partsOf(folder, table), at(`${folder}/${table}/**/part-*.parquet`));
        t.diagnostic(`${filters} filters`);
      });
    }
  });
}

test('series', async () => {
  await compare('series', [at('series.parquet')], at('series.parquet'));
});

test('every column of texts has had one', () => {
  assert.deepEqual([...tried].filter(column => !filled.has(column)), []);
});

test('README.md names the engines that are tried here', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  for (const name of ['chdb', '@duckdb/node-api', 'nodejs-polars', 'parquet-wasm']) {
    assert.ok(text.includes(`(${name} ${dependencies[name]})`), `${name} ${dependencies[name]}`);
  }
  const version = query('SELECT version()', 'TabSeparatedRaw').split('.').slice(0, 3).join('.');
  assert.ok(text.includes(`ClickHouse ${version} `), `ClickHouse ${version}`);
});
