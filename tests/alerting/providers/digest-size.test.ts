import { expect, test } from "bun:test";
import type { ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import type { Alert } from "../../../src/alerting/alert.ts";
import { buildMail } from "../../../src/alerting/providers/email-mail.ts";
import { providers } from "../../../src/alerting/providers.ts";
import {
  createAlert,
  monitor,
  createChannel,
  origin,
  startReceiver,
  createAlertStorm,
  createMessage,
  typesWithoutHttp,
} from "../../support/alert-receiver.ts";
import { replyWith } from "../../support/target.ts";

const maxBytes = 20_000;

const alphabets = ["Shop", "Störung ☃", "🛰️🛰️🛰️", '"\\&<>=\u2028', "日本語の監視対象"];
const createLongAlert = (index: number) =>
  `${(alphabets[index % alphabets.length] ?? "").repeat(30).slice(0, 200)} ${index}`;

/** A thousand alerts with long names and reasons in several scripts. */
const alerts: Alert[] = createAlertStorm(1_000).map((alert, index) => {
  const named = { ...monitor, id: `${monitor.id}-${index}`, name: createLongAlert(index) };
  return createAlert(
    "monitor.down",
    { monitor: named, message: createLongAlert(index + 1) },
    alert.id,
  );
});

const digesting = (Object.keys(providers) as ChannelType[]).filter(
  (type) => providers[type].digests && (type === "email" || !typesWithoutHttp.includes(type)),
);

async function readSent(type: ChannelType, all: readonly Alert[]): Promise<number> {
  if (type === "email") {
    const mail = await buildMail(
      createMessage(all),
      ["ann@team.example"],
      "signalbox@team.example",
    );
    return mail.bytes.length;
  }
  await using to = await startReceiver(replyWith(200, "ok"));
  const { provider, settings } = createChannel(type);
  await to.deliver(provider, settings, createMessage(all));
  return Math.max(...to.asked.map(({ body }) => Buffer.byteLength(body)));
}

for (const type of digesting) {
  const limit = providers[type].digestLimit;
  if (limit === undefined)
    test(`${type}: a digest of a thousand alerts is shortened below 20 kB, in any script`, async () => {
      expect(await readSent(type, alerts)).toBeLessThan(maxBytes);
    });
  else
    test(`${type}: a digest is never larger than its computed size and its envelope`, async () => {
      const ownLimit = type === "email" ? 4_000 : 200;
      for (let from = 0; from < 60; from += 7) {
        const some = alerts.slice(from, from + 12);
        const counted = some.reduce((sum, alert) => sum + limit.bytesOf(alert, origin), 0);
        expect(await readSent(type, some)).toBeLessThanOrEqual(counted + ownLimit);
      }
      const allowed = type === "email" ? 100_000 : maxBytes;
      expect(limit.bytes + ownLimit).toBeLessThanOrEqual(allowed);
    });
}
