import { describe, expect, test } from "bun:test";
import { teams } from "../../../src/alerting/providers/teams.ts";
import {
  alertOf,
  expectUsualVerdicts,
  doubted,
  monitor,
  receiver,
  storm,
  telling,
  triedAgain,
  verdictOn,
} from "../../support/delivering.ts";
import { answer } from "../../support/target.ts";

const settings = {
  webhookUrl: "https://prod-1.westeurope.logic.azure.com/workflows/1/triggers/manual?sig=token",
  template: null,
};

const row = (...runs: object[]) => ({
  type: "RichTextBlock",
  inlines: runs.map((run) => ({ type: "TextRun", ...run })),
});
const line = (text: string) => row({ text });
const fact = (label: string, value: string) =>
  row({ text: `${label}: `, weight: "Bolder" }, { text: value });
const since = fact("Since", "2026-11-20 23:02:00 UTC");
const group = fact("Group", "Front of house");

function cardWith(title: string, style: string, url: string, ...rows: object[]) {
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          msteams: { width: "Full" },
          body: [
            {
              type: "Container",
              style,
              bleed: true,
              items: [row({ text: title, weight: "Bolder", size: "Large" })],
            },
            ...rows,
          ],
          actions: [{ type: "Action.OpenUrl", title: "Open in Signalbox", url }],
        },
      },
    ],
  };
}

const page = "https://signalbox.lan/monitors/01a1fb90-0000-7000-8000-000000000001";

describe("what Teams receives", () => {
  test("an outage as a card in red, with its facts and a button", async () => {
    await using to = await receiver();
    await to.deliver(teams, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual([settings.webhookUrl]);
    expect(to.last()).toMatchObject({
      method: "POST",
      path: "/workflows/1/triggers/manual?sig=token",
    });
    expect(to.body()).toEqual(
      cardWith(
        "Shop is down",
        "attention",
        page,
        line("The connection was refused."),
        since,
        group,
      ),
    );
  });

  test("its recovery in green", async () => {
    await using to = await receiver();
    await to.deliver(teams, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual(
      cardWith(
        "Shop is up again",
        "good",
        page,
        line("HTTP 200 (OK)."),
        since,
        fact("Was down for", "12 min 34 s"),
        fact("Latency", "42 ms"),
        group,
      ),
    );
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(teams, settings, telling(storm(2)));
    expect(to.body()).toEqual(
      cardWith(
        "2 monitors are down",
        "attention",
        "https://signalbox.lan",
        line("Shop 1 is down. The connection was refused."),
        line("Shop 2 is down. The connection was refused."),
      ),
    );
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(teams, settings, telling(alertOf("test")));
    expect(to.body()).toEqual(
      cardWith(
        "Test alert from Signalbox",
        "accent",
        "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
        line("Alerts of this channel arrive here."),
      ),
    );
  });

  test("each line of a text of one's own", async () => {
    await using to = await receiver();
    const message = telling(alertOf("monitor.down"), "{{monitor}}\n\nis {{status}}");
    await to.deliver(teams, settings, message);
    expect(to.body()).toEqual(
      cardWith("Shop is down", "attention", page, line("Shop"), line("is down")),
    );
  });
});

test("names and messages stand where Teams knows neither Markdown nor mentions", async () => {
  await using to = await receiver();
  const name = "<at>everyone</at> **Shop**";
  const named = { ...monitor, name, groupName: "[a](https://evil.example)" };
  const down = alertOf("monitor.down", { monitor: named, message: "_a_ <b>b</b>" });
  await to.deliver(teams, settings, telling(down));
  const sent = to.body();
  expect(sent).toEqual(
    cardWith(
      "<at>everyone</at> **Shop** is down",
      "attention",
      page,
      line("_a_ <b>b</b>"),
      since,
      fact("Group", "[a](https://evil.example)"),
    ),
  );
  expect(JSON.stringify(sent)).not.toMatch(/"(TextBlock|FactSet|entities)"/);
});

describe("what is too long", () => {
  test.each([
    ["Latin letters", (number: number) => `Shop ${number}`],
    ["characters of many bytes", (number: number) => `店舗☃🚨"\\ ${number}`],
  ])("a digest of a thousand alerts in %s says how many it leaves out", async (_what, nameOf) => {
    await using to = await receiver();
    await to.deliver(teams, settings, telling(storm(1_000, nameOf)));
    expect(Buffer.byteLength(to.last().body)).toBeLessThanOrEqual(20_000);
    expect(Buffer.byteLength(to.last().body)).toBeGreaterThan(15_000);
    const rows = to.body().attachments[0].content.body.slice(1);
    expect(rows.at(-1)).toEqual(line(`… and ${1_000 - (rows.length - 1)} more`));
  });
});

describe("what Teams answers", () => {
  test("statuses mean what they mean everywhere", () => expectUsualVerdicts(teams, settings));

  test("a workflow says 202, a connector of old 200 and 1", async () => {
    expect(await verdictOn(answer(202, ""), teams, settings)).toEqual({ outcome: "delivered" });
    expect(await verdictOn(answer(200, "1"), teams, settings)).toEqual({ outcome: "delivered" });
  });

  test("a connector of old says 200 and in the body that it failed", async () => {
    const failed = (status: string) =>
      `Webhook message delivery failed with error: Microsoft Teams endpoint returned ${status} with ContextId internal=gossip.`;
    const on = (status: string) => verdictOn(answer(200, failed(status)), teams, settings);
    expect(await on("HTTP error 429")).toEqual(
      triedAgain("The receiver answered HTTP 429 (Too Many Requests)."),
    );
    expect(await on("HTTP error 404")).toEqual(
      doubted("The receiver answered HTTP 404 (Not Found)."),
    );
    expect(await on("something")).toEqual(
      triedAgain("The receiver answered HTTP 502 (Bad Gateway)."),
    );
  });

  test.each([
    [
      400,
      "WorkflowTriggerIsNotEnabled",
      "Teams says that the workflow is turned off or was removed.",
    ],
    [404, "WorkflowNotFound", "Teams says that the workflow does not exist."],
    [
      401,
      "DirectApiAuthorizationRequired",
      "Teams says that the workflow does not accept requests from anyone, or that its address is not complete.",
    ],
    [
      400,
      "TriggerInputSchemaMismatch",
      "Teams says that the workflow expects something other than cards.",
    ],
  ])("%d %s ends it", async (status, code, reason) => {
    const body = JSON.stringify({ error: { code, message: "internal gossip" } });
    expect(await verdictOn(answer(status, body), teams, settings)).toEqual(doubted(reason));
  });
});
