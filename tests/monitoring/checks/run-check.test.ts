import { describe, expect, test } from "bun:test";
import { getFreePort } from "../../support/binary.ts";
import { runCheckOfType, runLoggedCheck, runUntilTimedOut } from "../../support/check-runs.ts";
import { replyWith, hang, startTarget } from "../../support/target.ts";

describe("a check", () => {
  test("ends at its timeout and reports its last step", async () => {
    await using shop = await startTarget(hang);
    const message = "Timed out while waiting for the response.";
    expect(
      await runUntilTimedOut(message, (timeoutMs) =>
        runCheckOfType("http", { url: shop.at() }, { timeoutMs }),
      ),
    ).toEqual({
      status: "down",
      message,
      latencyMs: null,
      isFinal: false,
    });
  });

  test("that is aborted is unknown", async () => {
    await using shop = await startTarget(hang);
    const ending = new AbortController();
    const found = runCheckOfType("http", { url: shop.at() }, { signal: ending.signal });
    await shop.waitUntilRequested(1);
    ending.abort();
    expect(await found).toMatchObject({ status: "unknown" });
  });

  test("with an internal error is unknown and logged, not down", async () => {
    const { outcome, logged } = await runLoggedCheck("http", { url: "not a url" });
    expect(outcome.status).toBe("unknown");
    expect(logged[0]).toStartWith("a check failed unexpectedly");
  });

  test("of a name with a blocked address is down immediately", async () => {
    const listeners = [{ host: "127.0.0.1", port: 3210 }];
    expect(await runCheckOfType("tcp", { host: "localhost", port: 3210 }, { listeners })).toEqual({
      status: "down",
      message: "Blocked: the target is this appliance itself.",
      latencyMs: null,
      isFinal: true,
    });
  });

  test("whose long search stays in the queue is unknown at its timeout", async () => {
    const digits = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("hex");
    await using shop = await startTarget(replyWith(200, digits));
    const assertions = [{ source: "body", op: "matches", value: "\\w*a\\w{30}z" }];
    const message = "Not judged: too many long responses are being searched at once.";
    const waitForever = () => new Promise<never>(() => {});
    expect(
      await runUntilTimedOut(message, (timeoutMs) =>
        runCheckOfType("http", { url: shop.at(), assertions }, { timeoutMs, inTurn: waitForever }),
      ),
    ).toMatchObject({ status: "unknown", message });
  });

  describe("of an inverted monitor", () => {
    const inverted = true;

    test("is up after a failure, and down after a success, even a slow one", async () => {
      await using shop = await startTarget(replyWith(503));
      const url = shop.at();
      expect(await runCheckOfType("http", { url, inverted })).toEqual({
        status: "up",
        message: "Fails, as expected: HTTP 503 (Service Unavailable), expected 200-299.",
        latencyMs: null,
      });
      shop.setReply(replyWith());
      for (const degradedAfterMs of [null, -1])
        expect(await runCheckOfType("http", { url, inverted }, { degradedAfterMs })).toMatchObject({
          status: "down",
          message: expect.stringMatching(/^Expected to fail, but did not: .+ in \d+ ms/),
          latencyMs: expect.any(Number),
        });
      const port = getFreePort();
      expect(await runCheckOfType("tcp", { host: "127.0.0.1", port, inverted })).toMatchObject({
        status: "up",
        message: "Fails, as expected: The connection was refused.",
      });
    });

    test("reports the received value", async () => {
      await using shop = await startTarget(replyWith(200, "fine"));
      const assertions = [{ source: "body", op: "equals", value: "x" }];
      expect(await runCheckOfType("http", { url: shop.at(), inverted, assertions })).toMatchObject({
        status: "up",
        serverText: expect.stringMatching(/^Fails, as expected: .+, received "fine"\.$/),
      });
    });

    test("does not succeed if the target is blocked or after an internal error", async () => {
      const blocked = { host: "169.254.169.254", port: 80, inverted };
      expect(await runCheckOfType("tcp", blocked)).toMatchObject({ status: "down", isFinal: true });
      const { outcome } = await runLoggedCheck("tcp", { inverted });
      expect(outcome.status).toBe("unknown");
    });
  });

  test("of a name that does not exist is down", async () => {
    const found = await runCheckOfType("http", { url: "http://nobody.invalid/" });
    expect(found).toMatchObject({ status: "down", message: "The host name was not found in DNS." });
  });

  test("above the latency threshold is degraded", async () => {
    await using shop = await startTarget();
    const found = await runCheckOfType("http", { url: shop.at() }, { degradedAfterMs: -1 });
    expect(found.status).toBe("degraded");
    expect(found.message).toMatch(/^Answered in \d+ ms, more than -1 ms\.$/);
  });
});
