#!/usr/bin/env bash
# @dsnp/parquetjs 1.8.8 (npm) reads every boolean of a column encoded as RLE as false.
#
# Parquet lets booleans be encoded as runs (RLE, with a length of four bytes before them). The
# package reads such a column without an error, and each value is false. Nulls stay nulls. So a flag
# of a table, "is this rule effective", is false for all rows in one reader and right in the others,
# by a choice of the writer that no schema shows.
#
# Seen on Node.js 20; the file is written by hyparquet-writer 0.17.0:
#
#   written          true,false,null,true
#   DuckDB 1.5.6     true,false,null,true
#   hyparquet        true,false,null,true
#   @dsnp/parquetjs  false,false,null,false
#   @dsnp/parquetjs, the same as PLAIN  true,false,null,true
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . @dsnp/parquetjs@1.8.8 hyparquet@1.33.0 \
  hyparquet-writer@0.17.0 @duckdb/node-api@1.5.6-r.1 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.mjs <<'JS'
import { DuckDBInstance } from '@duckdb/node-api';
import parquetjs from '@dsnp/parquetjs';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { parquetWriteFile } from 'hyparquet-writer';

const data = [true, false, null, true];
const say = (reader, values) => console.log(`${reader}  ${values.map(String).join()}`);

async function byParquetjs(name) {
  const reader = await parquetjs.ParquetReader.openFile(name);
  const cursor = reader.getCursor();
  const values = [];
  for (let row; (row = await cursor.next()); ) values.push(row.flag ?? null);
  await reader.close();
  return values;
}

for (const encoding of ['RLE', 'PLAIN'])
  await parquetWriteFile({
    filename: `${encoding}.parquet`,
    columnData: [{ name: 'flag', type: 'BOOLEAN', nullable: true, data, encoding }],
  });
say('written        ', data);
const duckdb = await (await DuckDBInstance.create()).connect();
const rows = await duckdb.runAndReadAll("SELECT flag FROM 'RLE.parquet'");
say('DuckDB 1.5.6   ', rows.getRows().map(([flag]) => flag));
const objects = await parquetReadObjects({ file: await asyncBufferFromFile('RLE.parquet') });
say('hyparquet      ', objects.map(({ flag }) => flag ?? null));
say('@dsnp/parquetjs', await byParquetjs('RLE.parquet'));
say('@dsnp/parquetjs, the same as PLAIN', await byParquetjs('PLAIN.parquet'));
JS
node read.mjs | tee seen
diff - seen <<'SEEN'
written          true,false,null,true
DuckDB 1.5.6     true,false,null,true
hyparquet        true,false,null,true
@dsnp/parquetjs  false,false,null,false
@dsnp/parquetjs, the same as PLAIN  true,false,null,true
SEEN
