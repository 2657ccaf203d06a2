import { expect, test } from "bun:test";
import { targetGuard } from "../../../src/core/security/target-guard.ts";
import { exchange } from "../../../src/core/outgoing/http/exchange.ts";
import { redirect, target } from "../../support/target.ts";

test.each([301, 302, 303, 307, 308])(
  "a receiver that returns %d is not followed",
  async (status) => {
    await using receiver = await target();
    await using other = await target();
    receiver.reply(redirect(other.at(), status));
    const request = {
      url: new URL(receiver.at()),
      method: "POST",
      headers: {},
      body: "an alert",
      verifyTls: true,
    };
    const cancelled = new AbortController().signal;
    const context = { targets: targetGuard(() => []), timeoutMs: 60_000, cancelled };
    expect((await exchange(request, context)).status).toBe(status);
    expect([receiver.asked.length, other.connections()]).toEqual([1, 0]);
  },
);
