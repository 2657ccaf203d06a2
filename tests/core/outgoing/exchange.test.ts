import { expect, test } from "bun:test";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { exchange } from "../../../src/core/outgoing/http/exchange.ts";
import { replyWithRedirect, startTarget } from "../../support/target.ts";

test.each([301, 302, 303, 307, 308])(
  "a receiver that returns %d is not followed",
  async (status) => {
    await using receiver = await startTarget();
    await using other = await startTarget();
    receiver.setReply(replyWithRedirect(other.at(), status));
    const request = {
      url: new URL(receiver.at()),
      method: "POST",
      headers: {},
      body: "an alert",
      verifyTls: true,
    };
    const signal = new AbortController().signal;
    const context = { targets: createTargetGuard(() => []), timeoutMs: 60_000, signal };
    expect((await exchange(request, context)).status).toBe(status);
    expect([receiver.asked.length, other.connections()]).toEqual([1, 0]);
  },
);
