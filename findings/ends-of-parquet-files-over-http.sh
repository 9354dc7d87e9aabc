#!/usr/bin/env bash
# Asked for the end of a small Parquet file, three servers of files for Node.js go wrong in three ways:
# sirv 3.0.2 sends its beginning, express 5.3.0 refuses, and @hapi/inert 7.1.2 answers 500.
#
# What a Parquet file holds stands in its footer, whose length is in the last 8 bytes (File Format of
# the specification). So readers ask for the end first, with "Range: bytes=-8" or a few KiB that hold
# most footers whole: the last bytes of the file, or all of it where it is shorter (RFC 9110, 14.1.2).
# sirv takes the missing first number for 0: status 206, an honest Content-Range, and bytes 0 to 8.
# parquet-wasm 0.8.0 looks at the bytes alone and says that the file is corrupt. express and inert
# count well as long as the file is as long as what is asked for. Below that express has no range to
# satisfy (416), and inert finds a number below zero where it wants a positive one (500). A table of
# few rows, as partitioned data sets have many, is then no table to a reader that asks for its last
# 64 KiB, while all larger ones are.
#
# Seen on Node.js 20, with a file of 3 rows that hyparquet-writer 0.17.0 has written:
#
#   sirv 3.0.2: the last 8 bytes: 206, another part; the last 64 KiB: 206, the file
#   express 5.3.0: the last 8 bytes: 206, the last 8 bytes; the last 64 KiB: 416
#   @hapi/inert 7.1.2: the last 8 bytes: 206, the last 8 bytes; the last 64 KiB: 500
#   parquet-wasm 0.8.0 from sirv: Parquet error: Invalid Parquet file. Corrupt footer
#   parquet-wasm 0.8.0 from express: 3 rows
#   parquet-wasm 0.8.0 from @hapi/inert: 3 rows
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . sirv@3.0.2 express@5.3.0 @hapi/hapi@21.4.10 @hapi/inert@7.1.2 \
  hyparquet-writer@0.17.0 parquet-wasm@0.8.0 apache-arrow@21.1.0 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >ask.mjs <<'JS'
import fs from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import Hapi from '@hapi/hapi';
import Inert from '@hapi/inert';
import { tableFromIPC } from 'apache-arrow';
import express from 'express';
import { parquetWriteFile } from 'hyparquet-writer';
import { ParquetFile } from 'parquet-wasm';
import sirv from 'sirv';

fs.mkdirSync('site');
await parquetWriteFile({ filename: 'site/hosts.parquet',
  columnData: [{ name: 'host', type: 'STRING', data: ['a.example', 'b.example', 'c.example'] }] });
const file = fs.readFileSync('site/hosts.parquet');
const version = (name) => JSON.parse(fs.readFileSync(`node_modules/${name}/package.json`)).version;

async function plain(handler) {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return [server.address().port, () => server.close()];
}

const servers = {
  sirv: () => plain(sirv('site')),
  express: () => plain(express().set('env', 'test').use(express.static('site'))),
  '@hapi/inert': async () => {
    const server = Hapi.server({ port: 0, host: '127.0.0.1', debug: false });
    await server.register(Inert);
    server.route({ method: 'GET', path: '/{path*}', handler: { directory: { path: `${process.cwd()}/site` } } });
    await server.start();
    return [server.info.port, () => server.stop()];
  },
};

async function end(url, bytes) {
  const answer = await fetch(url, { headers: { Range: `bytes=-${bytes}` } });
  const body = Buffer.from(await answer.arrayBuffer());
  if (answer.status !== 206) return answer.status;
  if (body.equals(file)) return '206, the file';
  return `206, ${body.equals(file.subarray(-bytes)) ? `the last ${bytes} bytes` : 'another part'}`;
}

const read = [];
for (const [name, start] of Object.entries(servers)) {
  const [port, close] = await start();
  const url = `http://127.0.0.1:${port}/hosts.parquet`;
  const [tail, more] = [await end(url, 8), await end(url, 65536)];
  console.log(`${name} ${version(name)}: the last 8 bytes: ${tail}; the last 64 KiB: ${more}`);
  let got;
  try {
    const table = await (await ParquetFile.fromUrl(url)).read();
    got = `${tableFromIPC(table.intoIPCStream()).numRows} rows`;
  } catch (error) {
    got = error.message ?? error;
  }
  read.push(`parquet-wasm ${version('parquet-wasm')} from ${name}: ${got}`);
  await close();
}
console.log(read.join('\n'));
JS
node ask.mjs | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
sirv 3.0.2: the last 8 bytes: 206, another part; the last 64 KiB: 206, the file
express 5.3.0: the last 8 bytes: 206, the last 8 bytes; the last 64 KiB: 416
@hapi/inert 7.1.2: the last 8 bytes: 206, the last 8 bytes; the last 64 KiB: 500
parquet-wasm 0.8.0 from sirv: Parquet error: Invalid Parquet file. Corrupt footer
parquet-wasm 0.8.0 from express: 3 rows
parquet-wasm 0.8.0 from @hapi/inert: 3 rows
SEEN
