import { describe, expect, test } from "bun:test";
import { sameHost, sameOrigin } from "../../src/core/security/destinations.ts";

describe("a URL leads to the same place", () => {
  test.each([
    ["in any case", "https://Bot.LAN/a", "HTTPS://bot.lan/b?c"],
    ["with the root's dot", "https://bot.example.com/", "https://bot.example.com./"],
    ["with the root's dot and a port", "http://bot.lan.:8080/", "http://BOT.lan:8080"],
    ["with the usual port", "https://bot.lan/", "https://bot.lan:443/"],
    ["with the usual port of plain HTTP", "http://bot.lan./", "http://bot.lan:80/"],
    ["in letters or in Punycode", "https://münchen.example", "https://xn--mnchen-3ya.example."],
    ["in wide letters", "https://ｂｏｔ。lan/", "https://bot.lan/"],
    ["with escapes", "https://%62ot.lan/", "https://bot.lan/"],
    ["by any spelling of IPv4", "http://127.0.0.1/", "http://0x7f.1/"],
    ["by IPv4 as one number", "http://10.0.0.5:8080/", "http://167772165:8080/"],
    ["by any spelling of IPv6", "http://[2001:DB8:0:0:0:0:0:1]/", "http://[2001:db8::1]:80/"],
  ])("%s", (_, one, other) => {
    expect([sameOrigin(one, other), sameOrigin(other, one)]).toEqual([true, true]);
  });
});

describe("a URL leads elsewhere", () => {
  test.each([
    ["with another port", "https://bot.lan/", "https://bot.lan:8443/"],
    ["unprotected", "https://bot.lan/", "http://bot.lan/"],
    ["unprotected at the same port", "https://bot.lan/", "http://bot.lan:443/"],
    ["one name below", "https://bot.lan/", "https://evil.bot.lan/"],
    ["below a name that looks alike", "https://bot.lan/", "https://bot.lan.evil.example/"],
    ["in letters that look alike", "https://bot.lan/", "https://bоt.lan/"],
    ["with two dots", "https://bot.lan/", "https://bot.lan../"],
    ["by IPv6 that hides IPv4", "http://127.0.0.1/", "http://[::ffff:127.0.0.1]/"],
  ])("%s", (_, one, other) => {
    expect([sameOrigin(one, other), sameOrigin(other, one)]).toEqual([false, false]);
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
    // Only a resolver knows what becomes of it.
    ["127.0.0.1", "0x7f.1", false],
  ])("%s and %s", (one, other, isSame) => {
    expect([sameHost(one, other), sameHost(other, one)]).toEqual([isSame, isSame]);
  });
});
