import { expect, test } from "bun:test";
import { runCheckOfType } from "../../../support/check-runs.ts";
import { defineTestWith } from "../../../support/real-targets.ts";

/** Addresses of a name: this machine can have only one, or also one of IPv6. */
const resolved = { name: "localhost", values: expect.stringContaining("127.0.0.1") };

for (const packets of [1, 3])
  defineTestWith(["ping"], `this machine is up with ${packets} packets`, async () => {
    for (const host of ["127.0.0.1", "localhost"])
      expect(await runCheckOfType("ping", { host, packets })).toEqual({
        status: "up",
        message: expect.stringMatching(/^Replied in \d+ ms\.$/),
        latencyMs: expect.any(Number),
        details: { lossPercent: 0, slowestMs: expect.any(Number) },
        ...(host === "localhost" && { resolved }),
      });
  });

defineTestWith(["ping", "network"], "an unreachable address is down at the timeout", async () => {
  expect(await runCheckOfType("ping", { host: "240.0.0.1" }, { timeoutMs: 1_000 })).toMatchObject({
    status: "down",
    latencyMs: null,
  });
});

defineTestWith(["ping"], "the ping of an aborted check is stopped", async () => {
  const controller = new AbortController();
  const found = runCheckOfType(
    "ping",
    { host: "127.0.0.1", packets: 10 },
    { signal: controller.signal },
  );
  controller.abort();
  expect(await found).toMatchObject({ status: "unknown" });
});

test("a name that resolves to a blocked address is not pinged", async () => {
  expect(await runCheckOfType("ping", { host: "0x0" })).toMatchObject({
    status: "down",
    isFinal: true,
    message: "Blocked: the target is no address of a host.",
  });
});
