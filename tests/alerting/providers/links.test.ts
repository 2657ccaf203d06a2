import { expect, test } from "bun:test";
import { replyWith } from "../../support/target.ts";
import { confirmationOf } from "./text-services.ts";
import { buildMessage } from "../../../src/alerting/sending/messages.ts";
import { providers } from "../../../src/alerting/providers.ts";
import { hasDottedHost } from "../../../src/alerting/providers/formatting.ts";
import {
  createAlert,
  deliveryId,
  parseFields,
  monitor,
  createChannel,
  startReceiver,
  typesWithoutHttp,
} from "../../support/alert-receiver.ts";

/** The fields of all services with the page to open. */
const linkFields = /"(url|title_link|click|openLink|client_url|href)":/;

/** Sends an alert about an outage from an appliance at this address, and returns the request. */
async function sendFrom(type: string, origin: string): Promise<string> {
  await using to = await startReceiver(replyWith(200, confirmationOf(type)));
  const { provider, settings } = createChannel(type);
  const message = buildMessage(deliveryId, [createAlert("monitor.down")], origin);
  await to.deliver(provider, settings, message);
  return JSON.stringify(parseFields(to.lastRequest()));
}

// A browser opens the page at the address at which it subscribed. A call reads no addresses.
const addressless = [...typesWithoutHttp, "webpush", "voice"];
const overHttp = Object.keys(providers).filter((type) => !addressless.includes(type));
const localOrigins = ["http://nas:3210", "http://localhost:3210", "http://[fd00::5]:3210"];

test.each(overHttp)("%s links to the page of an appliance with any host name", async (type) => {
  for (const origin of [...localOrigins, "http://192.168.1.5:3210", "https://signalbox.lan"])
    expect(await sendFrom(type, origin)).toContain(`${origin}/monitors/${monitor.id}`);
});

test.each(["discord", "teams", "googlechat"])(
  "%s, which requires a dot in the host of a link, gets an address without one as text",
  async (type) => {
    for (const origin of localOrigins) {
      const sent = await sendFrom(type, origin);
      expect(sent).not.toMatch(linkFields);
      expect(sent.split(`${origin}/monitors/${monitor.id}`)).toHaveLength(2);
    }
    expect(await sendFrom(type, "http://192.168.1.5:3210")).toMatch(linkFields);
  },
);

test("a trailing dot of a host does not count", () => {
  expect(hasDottedHost("http://nas.:3210/x.y")).toBe(false);
  expect(hasDottedHost("http://nas.lan.:3210/")).toBe(true);
});
