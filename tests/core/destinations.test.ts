import { describe, expect, test } from "bun:test";
import { isSameHost, isSameOrigin } from "../../src/core/security/destinations.ts";

describe("a URL leads to the same destination", () => {
  test.each([
    ["in any case", "https://Bot.LAN/a", "HTTPS://bot.lan/b?c"],
    ["with a trailing dot", "https://bot.example.com/", "https://bot.example.com./"],
    ["with a trailing dot and a port", "http://bot.lan.:8080/", "http://BOT.lan:8080"],
    ["with the default port", "https://bot.lan/", "https://bot.lan:443/"],
    ["with the default port of plain HTTP", "http://bot.lan./", "http://bot.lan:80/"],
    ["in Unicode or Punycode", "https://münchen.example", "https://xn--mnchen-3ya.example."],
    ["in full-width letters", "https://ｂｏｔ。lan/", "https://bot.lan/"],
    ["with escapes", "https://%62ot.lan/", "https://bot.lan/"],
    ["in any notation of IPv4", "http://127.0.0.1/", "http://0x7f.1/"],
    ["with IPv4 as one number", "http://10.0.0.5:8080/", "http://167772165:8080/"],
    ["in any notation of IPv6", "http://[2001:DB8:0:0:0:0:0:1]/", "http://[2001:db8::1]:80/"],
  ])("%s", (_, one, other) => {
    expect([isSameOrigin(one, other), isSameOrigin(other, one)]).toEqual([true, true]);
  });
});

describe("a URL leads to another destination", () => {
  test.each([
    ["with another port", "https://bot.lan/", "https://bot.lan:8443/"],
    ["unprotected", "https://bot.lan/", "http://bot.lan/"],
    ["without TLS on the same port", "https://bot.lan/", "http://bot.lan:443/"],
    ["at a subdomain", "https://bot.lan/", "https://evil.bot.lan/"],
    ["at a subdomain of a look-alike name", "https://bot.lan/", "https://bot.lan.evil.example/"],
    ["in look-alike letters", "https://bot.lan/", "https://bоt.lan/"],
    ["with two dots", "https://bot.lan/", "https://bot.lan../"],
    ["with IPv4 in IPv6", "http://127.0.0.1/", "http://[::ffff:127.0.0.1]/"],
  ])("%s", (_, one, other) => {
    expect([isSameOrigin(one, other), isSameOrigin(other, one)]).toEqual([false, false]);
  });
});

describe("a host", () => {
  test.each([
    ["Mail.LAN", "mail.lan", true],
    ["mail.example.com", "mail.example.com.", true],
    ["münchen.example", "XN--MNCHEN-3YA.example.", true],
    ["2001:DB8::0:1", "2001:db8:0:0::1", true],
    ["10.0.0.5", "10.0.0.5", true],
    ["mail.lan", "mail.lan.evil.example", false],
    ["mail.lan", "mail.lan..", false],
    ["10.0.0.5", "10.0.0.50", false],
    ["::1", "::2", false],
    ["fe80::1%eth0", "fe80::1%eth1", false],
    ["fe80::1%eth0", "FE80::1%eth0", true],
    // Only a resolver knows its address.
    ["127.0.0.1", "0x7f.1", false],
  ])("%s and %s", (one, other, isSame) => {
    expect([isSameHost(one, other), isSameHost(other, one)]).toEqual([isSame, isSame]);
  });
});
