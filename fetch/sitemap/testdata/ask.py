# Asks scrapy for the pages of sitemaps: python3 ask.py PORT < URLs.
import http.client, json, sys, logging
from urllib.parse import urljoin, urlsplit
logging.disable(logging.CRITICAL)
from scrapy.http import Request, Headers
from scrapy.responsetypes import responsetypes
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.spiders import SitemapSpider

class Spider(SitemapSpider):
    name = 's'
    sitemap_urls = []
    def parse(self, response): pass

def get(url, left=5):
    c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))
    u = urlsplit(url)
    c.request('GET', u.path + ('?' + u.query if u.query else ''), headers={'Host': u.netloc})
    r = c.getresponse()
    body, headers = r.read(), Headers()
    for k, v in r.getheaders(): headers.appendlist(k, v)
    if r.status in (301, 302, 307, 308) and left: return get(urljoin(url, headers['Location'].decode()), left - 1)
    if r.status != 200: return None
    cls = responsetypes.from_args(headers=headers, url=url, body=body)
    response = cls(url=url, status=200, headers=headers, body=body)
    return HttpCompressionMiddleware().process_response(Request(url), response, Spider())

def pages(url, seen):
    if url in seen: return []
    seen.add(url)
    response = get(url)
    if response is None: return []
    out = []
    spider = Spider()
    try:
        for request in spider._parse_sitemap(response):
            if request.callback == spider._parse_sitemap: out += pages(request.url, seen)
            else: out.append(request.url)
    except Exception as e: # what came before counts
        sys.stderr.write('%s: %r\n' % (url, e))
    return out

for line in sys.stdin:
    try: print(json.dumps(pages(line.strip(), set())), flush=True)
    except Exception as e:
        sys.stderr.write('%s: %r\n' % (line.strip(), e))
        print('[]', flush=True)
