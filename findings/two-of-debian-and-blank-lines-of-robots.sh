#!/usr/bin/env bash
# WWW::RobotRules 6.02 (Perl) and WebRobots 0.1.2 (Ruby), the readers of robots.txt that Debian has for
# these languages, find sites open that are closed, by blank lines and by how lines end.
#
# A line ends with CR, LF or both, and an empty line may stand anywhere in a group and means nothing; a
# group ends where the next one begins (RFC 9309, 2.2). Both drop the rules behind an empty line. To
# WebRobots groups must have one between them: where they have none, it reads nothing of the file, and
# its verdict is "allowed" for every page; only who asks for its error as well learns why. Where lines
# end with CR and LF the CR becomes a part of each name and path. Then no group is for anybody, there is
# no error, and the site is open. WWW::RobotRules stops at the first Disallow line that names no path,
# and takes what stands below it for allowed. Neither combines two groups of one name (2.2.1).
#
# Seen with Debian's libwww-robotrules-perl 6.02-1 and ruby-webrobots 0.1.2-1.1, as "bot", of the page
# /a, which each of these files closes:
#
#   User-agent: * | Disallow: /a: perl closed, ruby closed
#   the same, its lines ended by CRLF: perl closed, ruby open
#   User-agent: * | Disallow: /a | User-agent: other | Disallow: /: perl closed, ruby open, with an error
#   User-agent: * | (empty) | Disallow: /a: perl open, ruby open
#   User-agent: * | Disallow: /b | (empty) | Disallow: /a: perl open, ruby open
#   User-agent: * | Disallow: | Disallow: /a: perl open, ruby closed
#   User-agent: bot | Disallow: /b | (empty) | User-agent: bot | Disallow: /a: perl open, ruby open
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg, perl, and the libraries of ruby.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download libwww-robotrules-perl=6.02-1 ruby-webrobots=0.1.2-1.1 liburi-perl \
  ruby3.1 libruby3.1 libyaml-0-2 >apt.log 2>&1 || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" debian; done
libraries=$(echo "$work"/debian/usr/lib/*-linux-gnu)
export PERL5LIB=$work/debian/usr/share/perl5
export RUBYLIB=$work/debian/usr/lib/ruby/vendor_ruby:$work/debian/usr/lib/ruby/3.1.0:$libraries/ruby/3.1.0
export LD_LIBRARY_PATH=$libraries

cat >ask.pl <<'PL'
use strict;
use WWW::RobotRules;

local $/;
my $rules = WWW::RobotRules->new('bot/1.0');
$rules->parse('https://site.example/robots.txt', <STDIN>);
print $rules->allowed('https://site.example/a') ? 'open' : 'closed';
PL
cat >ask.rb <<'RB'
require 'webrobots'

text = STDIN.read
robots = WebRobots.new('bot/1.0', :http_get => lambda { |_| text })
print robots.allowed?('https://site.example/a') ? 'open' : 'closed'
print ', with an error' if robots.error('https://site.example/a')
RB

# ask NAME TEXT
ask() {
  printf '%s: perl %s, ruby %s\n' "$1" "$(printf "$2" | perl ask.pl)" \
    "$(printf "$2" | debian/usr/bin/ruby3.1 --disable-gems ask.rb)"
}
{
  ask 'User-agent: * | Disallow: /a' 'User-agent: *\nDisallow: /a\n'
  ask 'the same, its lines ended by CRLF' 'User-agent: *\r\nDisallow: /a\r\n'
  ask 'User-agent: * | Disallow: /a | User-agent: other | Disallow: /' \
    'User-agent: *\nDisallow: /a\nUser-agent: other\nDisallow: /\n'
  ask 'User-agent: * | (empty) | Disallow: /a' 'User-agent: *\n\nDisallow: /a\n'
  ask 'User-agent: * | Disallow: /b | (empty) | Disallow: /a' 'User-agent: *\nDisallow: /b\n\nDisallow: /a\n'
  ask 'User-agent: * | Disallow: | Disallow: /a' 'User-agent: *\nDisallow:\nDisallow: /a\n'
  ask 'User-agent: bot | Disallow: /b | (empty) | User-agent: bot | Disallow: /a' \
    'User-agent: bot\nDisallow: /b\n\nUser-agent: bot\nDisallow: /a\n'
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
User-agent: * | Disallow: /a: perl closed, ruby closed
the same, its lines ended by CRLF: perl closed, ruby open
User-agent: * | Disallow: /a | User-agent: other | Disallow: /: perl closed, ruby open, with an error
User-agent: * | (empty) | Disallow: /a: perl open, ruby open
User-agent: * | Disallow: /b | (empty) | Disallow: /a: perl open, ruby open
User-agent: * | Disallow: | Disallow: /a: perl open, ruby closed
User-agent: bot | Disallow: /b | (empty) | User-agent: bot | Disallow: /a: perl open, ruby open
SEEN
