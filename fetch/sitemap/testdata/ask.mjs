// Asks a reader of npm for the pages of sitemaps: node ask.mjs PACKAGES READER PORT < URLs.
import {createRequire} from 'node:module';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import readline from 'node:readline';
import {Readable} from 'node:stream';
import {pathToFileURL} from 'node:url';
const [, , packages, reader, port] = process.argv;
http.Agent.prototype.createConnection = (options, done) => net.connect({port: Number(port), host: '127.0.0.1'}, done);
const require = createRequire(path.join(packages, 'package.json'));
const load = async name => { try { return require(name) } catch { return import(pathToFileURL(require.resolve(name)).href) } };
const raw = url => new Promise((resolve, reject) => http.get(url, r => {
  const parts = [];
  r.on('data', d => parts.push(d)).on('end', () => resolve(r.statusCode === 200 ? Buffer.concat(parts) : Buffer.alloc(0))).on('error', reject);
}).on('error', reject));
const readers = {
  async sitemapper(url) {
    const m = await load('sitemapper');
    const Sitemapper = m.default?.default ?? m.default ?? m;
    return (await new Sitemapper({timeout: 5000, retries: 0}).fetch(url)).sites;
  },
  async sitemap(url, seen = new Set()) {
    const {XMLToSitemapItemStream, XMLToSitemapIndexStream} = await load('sitemap');
    const items = (body, parser) => new Promise(resolve => {
      const out = [], end = () => resolve(out); // what came before an error counts
      parser.on('data', x => out.push(x.url)).on('error', end).on('end', end).on('close', end);
      Readable.from([body]).pipe(parser);
    });
    if (seen.has(url)) return [];
    seen.add(url);
    const body = await raw(url);
    const pages = await items(body, new XMLToSitemapItemStream());
    if (pages.length > 0) return pages;
    const out = [];
    for (const child of await items(body, new XMLToSitemapIndexStream())) out.push(...await readers.sitemap(child, seen));
    return out;
  },
  async crawlee(url) {
    const {Sitemap} = await load('@crawlee/utils');
    return (await Sitemap.load(url)).urls;
  },
};
setInterval(() => {}, 1000);
const within = (promise, ms) => Promise.race([promise, new Promise((_, fail) => setTimeout(() => fail(new Error('no answer')), ms))]);
console.log = console.info = console.warn = console.error = () => {};
for await (const url of readline.createInterface({input: process.stdin})) {
  let urls = [];
  try { urls = await within(readers[reader](url), 5000) } catch (e) { process.stderr.write(url + ': ' + e + '\n') }
  process.stdout.write(JSON.stringify(urls) + '\n');
}
process.exit(0);
