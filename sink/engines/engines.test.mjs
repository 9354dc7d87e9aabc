// Every engine finds every row: each column of texts of each table, of a run, a run of
// shards, a comparison, a series and a data set, is filtered in ClickHouse, DuckDB and
// Polars. ClickHouse skips pages by the column index, all three skip row groups. What
// they must find is counted here, from the rows that arrow-rs reads, which skips nothing.
//
//	node --test           the commands are in ../../bin; make test-engines builds them

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

before(async () => {
  // Of two archives, the first is of several segments, which the shard joins.
  for (const [name, repeat] of [['a', 25], ['b', 2]]) {
    execFileSync(bin('robofarm'), ['warc', '--dir', demo, '--out', at(name + '.warc.gz'), '--repeat', String(repeat)]);
  }
  writeFileSync(at('agents.yaml'), '- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n- {name: Bingbot, category: search}\n');
  writeFileSync(at('urls.txt'), '/\n/search?q=a-question-that-is-longer-than-the-bounds-of-pages\n');
  const common = ['--agents', at('agents.yaml'), '--urls', at('urls.txt'), '--profile', 'google,rfc9309', '--keep-bodies', '--keep-comments', '--progress', 'none'];
  run('run', '--warc', at('[ab].warc.gz'), '--out', at('out'), '--run', 'q', '--as-of', '2025', ...common);
  run('run', '--bodies', demo, '--out', at('out'), '--run', 'r', '--as-of', '2026', ...common);
  for (const shard of ['0', '1']) {
    run('run', '--warc', at('[ab].warc.gz'), '--out', at('joined'), '--run', 'q', '--shards', '2', '--shard', shard, ...common);
  }
  run('demo', '--out', at('demo'), '--run', 'd', '--keep-bodies', '--progress', 'none'); // verdicts of two row groups, each of several pages
  run('diff', '--out', at('out'), 'q', 'r');
  run('series', '--out', at('out'), '--parquet', at('series.parquet'));
  run('publish', '--out', at('out'), 'q', 'r', '--to', at('set'), '--creator', 'A', '--licence', 'CC0-1.0');
  run('publish', '--out', at('out'), 'q', 'r', '--to', at('hashed'), '--creator', 'A', '--licence', 'CC0-1.0', '--hash-hosts');
  run('publish', '--out', at('out'), 'q', 'r', '--to', at('less'), '--creator', 'A', '--licence', 'CC0-1.0', '--without', 'changes.after,bodies.body');
  duckdb = await (await DuckDBInstance.create()).connect();
});

after(() => rmSync(work, { recursive: true, force: true }));

const tables = ['fetches', 'groups', 'rules', 'sitemaps', 'lines', 'signals', 'agents', 'policies', 'verdicts', 'summary', 'examples', 'bodies'];

const partsOf = (folder, table) =>
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

// wantedOf returns texts to look for, with the number of cells: the commonest, the least,
// the greatest, one between, and one that is not there.
function wantedOf(cells) {
  const counts = new Map();
  for (const cell of cells) if (cell !== null) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  const texts = [...counts.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const commonest = texts.reduce((a, b) => (counts.get(b) > counts.get(a) ? b : a), texts[0]);
  const wanted = new Set([commonest, texts[0], texts.at(-1), texts[texts.length >> 1]]);
  return {
    counts: [...wanted].filter(t => t !== undefined).map(t => [t, counts.get(t)]).concat([['\u{10fff0} is not there', 0]]),
    nulls: cells.filter(c => c === null).length, filled: cells.filter(c => c !== null).length,
    least: texts[0], greatest: texts.at(-1),
  };
}

const quoted = text => "'" + text.replaceAll("'", "''") + "'";
const escaped = text => "'" + text.replaceAll('\\', '\\\\').replaceAll("'", "\\'") + "'";

const engines = {
  async ClickHouse({ files, pattern }, column, isText, least) {
    const from = `FROM file('${pattern}', Parquet)`;
    const literal = text => (isText ? escaped(text) : `unhex('${text}')`);
    const one = text => Number(query(text, 'TabSeparatedRaw').trim());
    return {
      equal: text => one(`SELECT count() ${from} WHERE "${column}" = ${literal(text)}`),
      from: () => one(`SELECT count() ${from} WHERE "${column}" >= ${literal(least)}`),
      nulls: () => one(`SELECT count() ${from} WHERE "${column}" IS NULL`),
      ends: (least, greatest) => one(`SELECT min("${column}") = ${literal(least)} AND max("${column}") = ${literal(greatest)} ${from}`),
    };
  },
  async DuckDB({ files, pattern }, column, isText, least) {
    const from = `FROM read_parquet([${files.map(quoted)}], hive_partitioning = false)`;
    const literal = text => (isText ? quoted(text) : `unhex('${text}')`);
    const one = async text => Number((await duckdb.runAndReadAll(text)).getRows()[0][0]);
    return {
      equal: text => one(`SELECT count(*) ${from} WHERE "${column}" = ${literal(text)}`),
      from: () => one(`SELECT count(*) ${from} WHERE "${column}" >= ${literal(least)}`),
      nulls: () => one(`SELECT count(*) ${from} WHERE "${column}" IS NULL`),
      ends: (least, greatest) => one(`SELECT (min("${column}") = ${literal(least)} AND max("${column}") = ${literal(greatest)})::INT ${from}`),
    };
  },
  async Polars({ files, pattern }, column, isText, least) {
    if (!isText) return null; // its literals are texts
    const count = async where => {
      let n = 0;
      for (const file of files) n += (await pl.scanParquet(file).filter(where).select(pl.len()).collect()).row(0)[0];
      return n;
    };
    return {
      equal: text => count(pl.col(column).eq(pl.lit(text))),
      from: () => count(pl.col(column).gtEq(pl.lit(least))),
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
    const { counts, nulls, filled, least, greatest } = wantedOf(cells);
    for (const [engine, open] of Object.entries(engines)) {
      const ask = await open({ files, pattern }, column, isText, least ?? '');
      if (!ask) continue;
      for (const [text, n] of counts) {
        if (!isText && n === 0) continue; // it is no bytes
        assert.equal(await ask.equal(text), n, `${engine}: ${name} where ${column} = ${JSON.stringify(text.slice(0, 99))}`);
        filters++;
      }
      assert.equal(await ask.from(), filled, `${engine}: ${name} where ${column} >= ${JSON.stringify(least?.slice(0, 99))}`);
      assert.equal(await ask.nulls(), nulls, `${engine}: ${name} where ${column} is null`);
      if (ask.ends && filled > 0) assert.equal(await ask.ends(least, greatest), 1, `${engine}: least and greatest ${column} of ${name}`);
      filters += 2;
    }
  }
  return filters;
}

const folders = {
  out: [...tables, 'changes'], joined: tables, demo: tables, set: [...tables, 'changes'],
  hashed: tables.filter(table => table !== 'bodies'), less: ['bodies', 'changes'], // parts that publish rewrites
};

for (const [folder, tables] of Object.entries(folders)) {
  for (const table of tables) {
    test(`${folder}: ${table}`, async t => {
      const filters = await compare(table, partsOf(folder, table), at(`${folder}/${table}/**/part-*.parquet`));
      t.diagnostic(`${filters} filters`);
    });
  }
}

test('series', async () => {
  await compare('series', [at('series.parquet')], at('series.parquet'));
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
