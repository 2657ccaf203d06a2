import { describe, expect, test } from "bun:test";
import type { ChannelSettings, ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import type { Alert } from "../../../src/alerting/alert.ts";
import type { Provider } from "../../../src/alerting/provider.ts";
import { providers } from "../../../src/alerting/providers.ts";
import {
  createAlert,
  expectUsualVerdicts,
  parseFields,
  monitor,
  startReceiver,
  createAlertStorm,
  createMessage,
  judgeReply,
} from "../../support/alert-receiver.ts";
import type { Json } from "../../support/json.ts";
import { replyWith } from "../../support/target.ts";
import { messages, type RenderedText, type Service, services } from "./services.ts";
import { textServices } from "./text-services.ts";

/** Sends a message and returns its request. */
async function send(
  type: string,
  settings: unknown,
  alerts: Alert | readonly Alert[],
  template: string | null = null,
) {
  await using to = await startReceiver();
  const provider = providers[type as ChannelType] as Provider<ChannelType>;
  const message = createMessage(alerts, template);
  await to.deliver(provider, settings as ChannelSettings<ChannelType>, message);
  const request = to.lastRequest();
  const { shown = (body: Json) => body as object } = (all as Record<string, Service>)[type] ?? {};
  const body = parseFields(request);
  return { url: to.urls.at(-1), request, body: shown(body) as Json, whole: body };
}

/** Returns the JSON without empty lines. */
const joinLines = (body: object) =>
  JSON.stringify(body).replaceAll("\\n\\n", "\\n").replaceAll("<br><br>", "<br>");

const all = { ...services, ...textServices };

for (const [type, service] of Object.entries(all) as [ChannelType, Service][]) {
  const { settings, url, headers = {}, hostile, digest, confirmation } = service;
  const provider = providers[type] as Provider<ChannelType>;

  describe(type, () => {
    test.each(Object.entries(messages) as [string, RenderedText][])(
      "%s arrives in the format of the service",
      async (name, text) => {
        const alerts = name === "digest" ? createAlertStorm(2) : createAlert(name as Alert["type"]);
        const { request, whole: _whole, ...sent } = await send(type, settings, alerts);
        expect(sent).toEqual({ url, body: service.body(text) });
        expect(request).toMatchObject({ method: service.method ?? "POST", headers });
      },
    );

    test("a custom text replaces facts and message; an empty one becomes the title", async () => {
      const down = messages["monitor.down"];
      // These messages always end with the address.
      const isNeverEmpty =
        service.neverEmpty === true || ["telegram", "gotify", "apprise"].includes(type);
      for (const [template, text] of [
        ["{{monitor}}\n\nis {{status}}", ["Shop", "is down"]],
        ["{{latency}}", [isNeverEmpty ? "" : "Shop is down"]],
      ] as const) {
        const { body } = await send(type, settings, createAlert("monitor.down"), template);
        const expected = service.body({ ...down, text, facts: [] });
        expect(joinLines(body)).toBe(joinLines(expected));
      }
    });

    test("names and messages are text: no mentions, links or other fields", async () => {
      const { typed, shown } = hostile;
      const named = { ...monitor, name: typed.name, groupName: typed.groupName };
      const down = createAlert("monitor.down", { monitor: named, message: typed.message });
      const { body } = await send(type, settings, down);
      expect(body).toEqual({
        ...service.body({
          ...messages["monitor.down"],
          title: `${shown.name} is down`,
          text: [shown.message],
          facts: [
            ["Since", "2026-11-20 23:02:00 UTC"],
            ["Group", shown.groupName],
          ],
        }),
        // Notifications of Google Chat show plain text.
        ...(type === "googlechat" && { fallbackText: "<\u200busers/all> & <\u200bb> is down" }),
      });
    });

    test.each([
      ["Latin letters", (number: number) => `Shop ${number}`],
      ["escapes and mentions", () => "&<>@_".repeat(40)],
      ["multi-byte characters", (number: number) => `店舗☃🚨"\\ ${number}`],
    ])("a digest of a thousand alerts in %s names the number left out", async (script, nameOf) => {
      const { whole: body } = await send(type, settings, createAlertStorm(1_000, nameOf));
      expect(digest.size(body)).toBeLessThanOrEqual(digest.most);
      if (script === "Latin letters") expect(digest.size(body)).toBeGreaterThan(digest.most * 0.6);
      const lines = digest.lines(body);
      expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
      expect(JSON.stringify(body)).toContain("https://signalbox.lan");
    });

    test("the longest names and messages fit, and no escape is cut in half", async () => {
      for (const unit of ["x", "_", "&", "<", "@"]) {
        const named = { ...monitor, name: unit.repeat(255), groupName: unit.repeat(255) };
        const message = unit.repeat(9_000);
        const { whole: body } = await send(
          type,
          settings,
          createAlert("monitor.down", { monitor: named, message }),
        );
        expect(digest.size(body)).toBeLessThanOrEqual(digest.most);
        const text = digest.lines(body).join("\n");
        expect(text.replaceAll(/&(amp|lt|gt);/g, "").includes("&")).toBe(
          unit === "&" && !text.includes("&amp;"),
        );
      }
    });

    if (service.addresses !== undefined)
      test.each(service.addresses)("with %p it sends to %s", async (changes, address) => {
        const sent = await send(type, { ...settings, ...changes }, createAlert("test"));
        expect(sent.url).toBe(address);
      });

    if (confirmation !== null)
      test("statuses have their usual meaning", () =>
        expectUsualVerdicts(provider, settings, confirmation));

    test.each(service.responses)(
      "%d with %j has a special meaning",
      async (status, body, verdict) => {
        const text = typeof body === "string" ? body : JSON.stringify(body);
        expect(await judgeReply(replyWith(status, text), provider, settings)).toEqual(verdict);
      },
    );
  });
}
