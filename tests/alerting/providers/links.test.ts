import { expect, test } from "bun:test";
import type { ChannelSettings, ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import { messageOf } from "../../../src/alerting/sending/messages.ts";
import type { Provider } from "../../../src/alerting/provider.ts";
import { providers } from "../../../src/alerting/providers.ts";
import { hasDottedHost } from "../../../src/alerting/providers/formatting.ts";
import { alertOf, deliveryId, monitor, receiver } from "../../support/delivering.ts";
import { newChannels } from "../../support/samples.ts";

/** All that says which page to open, in the way of each service. */
const linkFields = /"(url|title_link|click|openLink|client_url|href)":/;

/** What a channel of this type sends of an outage to an appliance that is opened here. */
async function sentFrom(type: string, origin: string): Promise<string> {
  await using to = await receiver();
  const { secrets, others } = newChannels[type] ?? { secrets: {}, others: {} };
  const settings = NewAlertChannel.parse({ type, name: type, ...others, ...secrets });
  const provider = providers[type as ChannelType] as Provider<ChannelType>;
  const message = messageOf(deliveryId, [alertOf("monitor.down")], origin);
  await to.deliver(provider, settings as unknown as ChannelSettings<ChannelType>, message);
  const { headers, body } = to.last();
  const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
  return isForm ? JSON.stringify(Object.fromEntries(new URLSearchParams(body))) : body;
}

const overHttp = Object.keys(providers).filter((type) => type !== "email");
const localOrigins = ["http://nas:3210", "http://localhost:3210", "http://[fd00::5]:3210"];

test.each(overHttp)(
  "%s tells the page of an appliance that is opened under any kind of host",
  async (type) => {
    for (const origin of [...localOrigins, "http://192.168.1.5:3210", "https://signalbox.lan"])
      expect(await sentFrom(type, origin)).toContain(`${origin}/monitors/${monitor.id}`);
  },
);

test.each(["discord", "teams", "googlechat"])(
  "%s, which wants a dot in the host of a link, gets such an address as text alone",
  async (type) => {
    for (const origin of localOrigins) {
      const sent = await sentFrom(type, origin);
      expect(sent).not.toMatch(linkFields);
      expect(sent.split(`${origin}/monitors/${monitor.id}`)).toHaveLength(2);
    }
    expect(await sentFrom(type, "http://192.168.1.5:3210")).toMatch(linkFields);
  },
);

test("a dot at the end of a host is none", () => {
  expect(hasDottedHost("http://nas.:3210/x.y")).toBe(false);
  expect(hasDottedHost("http://nas.lan.:3210/")).toBe(true);
});
