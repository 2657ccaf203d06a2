import { expect, test } from "bun:test";
import { networkOf } from "../../src/core/security/client-network.ts";

test("an IPv6 subscriber's whole /64 is one network", () => {
  const equalAddresses = [
    "2001:db8:1:2::1",
    "2001:0db8:0001:0002::ab",
    "2001:DB8:1:2:ffff::",
    "2001:db8:1:2:3:4:5:6",
    "2001:db8:1:2:3:4:192.168.1.5",
  ];
  expect(new Set(equalAddresses.map(networkOf))).toEqual(new Set(["2001:db8:1:2"]));
  const others = ["2001:db8:1:3::1", "::1", "fe80::1%eth0", "192.168.1.5", "192.168.1.6"];
  expect(new Set([...equalAddresses, ...others].map(networkOf)).size).toBe(6);
});

test("an IPv4 address is one network, also in IPv6 notation", () => {
  const equalAddresses = [
    "192.168.1.5",
    "::ffff:192.168.1.5",
    "::FFFF:192.168.1.5",
    "::ffff:c0a8:105",
  ];
  expect(
    new Set(
      [...equalAddresses, "0:0:0:0:0:ffff:c0a8:0105", "0:0:0:0:0:ffff:192.168.1.5"].map(networkOf),
    ),
  ).toEqual(new Set(["192.168.1.5"]));
  expect(networkOf("::ffff:192.168.1.6")).toBe("192.168.1.6");
});
