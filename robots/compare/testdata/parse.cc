// Times a parser with the interface of Google's: see BenchmarkParsers.
//
//	parse FILE SECONDS
//
// FILE holds bodies, each behind its length of four bytes, the least first. Every body is
// parsed in turn, and all that the parser tells is kept, until the seconds are over. Prints
// the bytes of a pass, the records of a pass, and the nanoseconds of CPU of the fastest pass.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "robots.h"

#ifdef NZRSKY
using View = std::string_view;
#else
using View = absl::string_view;
#endif

struct Record {
  int line, kind;
  View name, value;
};

class Keep : public googlebot::RobotsParseHandler {
 public:
  std::vector<Record> records;
  long lines = 0;

  void HandleRobotsStart() override { records.clear(); }
  void HandleRobotsEnd() override {}
  void HandleUserAgent(int line, View v) override { Add(line, 0, {}, v); }
  void HandleAllow(int line, View v) override { Add(line, 1, {}, v); }
  void HandleDisallow(int line, View v) override { Add(line, 2, {}, v); }
  void HandleSitemap(int line, View v) override { Add(line, 3, {}, v); }
  void HandleUnknownAction(int line, View n, View v) override { Add(line, 4, n, v); }
  void ReportLineMetadata(int, const LineMetadata&) override { lines++; }
#ifdef NZRSKY
  void HandleCrawlDelay(int line, double) override { Add(line, 5, {}, {}); }
  void HandleRequestRate(int line, const googlebot::RequestRate&) override { Add(line, 6, {}, {}); }
  void HandleContentSignal(int line, const googlebot::ContentSignal&) override { Add(line, 7, {}, {}); }
#endif

 private:
  void Add(int line, int kind, View name, View value) { records.push_back({line, kind, name, value}); }
};

static int64_t CPU() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), {});
  std::vector<View> bodies;
  int64_t size = 0;
  for (size_t at = 0; at + 4 <= all.size();) {
    uint32_t n = 0;
    for (int i = 3; i >= 0; i--) n = n << 8 | static_cast<unsigned char>(all[at + i]);
    bodies.push_back(View(all.data() + at + 4, n));
    at += 4 + n;
    size += n;
  }
  Keep keep;
  size_t records = 0;
  int64_t best = INT64_MAX;
  for (const int64_t end = CPU() + static_cast<int64_t>(atof(argv[2]) * 1e9); CPU() < end;) {
    records = 0;
    const int64_t start = CPU();
    for (const View& body : bodies) {
      googlebot::ParseRobotsTxt(body, &keep);
      records += keep.records.size();
    }
    best = std::min(best, CPU() - start);
  }
  printf("%lld %zu %lld\n", static_cast<long long>(size), records, static_cast<long long>(best));
}
