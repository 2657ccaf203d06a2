import { expect } from "bun:test";
import type { DeliveryContext, Verdict } from "../../src/alerting/provider.ts";
import { email } from "../../src/alerting/providers/email.ts";
import type { SmtpSettings } from "../../src/accounts/settings/schema.ts";
import { createAlert, startReceiver, createMessage } from "./alert-receiver.ts";

export const ann = "ann@team.example";
export const bob = "bob@team.example";
export const cid = "cid@team.example";

/** The outcome of an alert that is sent through this mail server. */
export async function findOutcome(
  smtp: SmtpSettings,
  to = [ann, bob, cid],
  changes: Partial<DeliveryContext> = {},
): Promise<Verdict | string> {
  await using net = await startReceiver();
  const settings = { to, template: null };
  const message = createMessage(createAlert("monitor.down"));
  return net
    .deliver(email, settings, message, { smtp, ...changes })
    .catch((error: Error) => `${error.constructor.name}: ${error.message}`);
}

export const delivered = expect.objectContaining({ outcome: "delivered" }) as Verdict;
export const createPassingVerdict = (
  reason: string,
  reached: string[] = [],
  refused: string[] = [],
): Verdict => ({
  outcome: "failed",
  reason,
  failure: "passing",
  ...(reached.length + refused.length > 0 && { progress: { reached, refused } }),
});
